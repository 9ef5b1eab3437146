"""Lines by their distance from a time: of one URL from both sides, of many sorted.  Pure.

None stands for rows that were read and left out, so that the caller that takes lines has a turn.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache

from .lines import Line

_MORE_LINES = 1000


def seconds(text: str) -> int:
    """Seconds from the year 1 of 14 digits."""
    of_day = int(text[8:10]) * 3600 + int(text[10:12]) * 60 + int(text[12:14])
    return _days(text[:8]) * 86400 + of_day


@lru_cache(maxsize=4096)
def _days(text: str) -> int:
    """Days from the year 1; of a day that its month does not have, of its last."""
    year, month, day = int(text[:4]), int(text[4:6]), int(text[6:8])
    for earlier in range(4):
        with suppress(ValueError):
            return date(year, month, day - earlier).toordinal()
    return year * 372 + month * 31 + day


def _seconds_of(line: Line) -> int:
    return seconds(line.timestamp.decode("ascii"))


_Distant = tuple[int, Line]
"""A line, and its distance in seconds."""


def with_distance(
    batches: Iterable[list[Line]], moment: int
) -> Generator[_Distant | None, None, None]:
    """Lines with their distance; None for rows that have been read and left out."""
    for batch in batches:
        if not batch:
            yield None
        for line in batch:
            yield abs(_seconds_of(line) - moment), line


def in_order_of_second(
    backward: Iterable[_Distant | None],
) -> Generator[_Distant | None, None, None]:
    """Lines of one second in their own order, as pywb sorts them."""
    same: list[_Distant] = []
    for distant in backward:
        if distant is None:
            yield None
            continue
        if same and same[0][0] != distant[0]:
            yield from reversed(same)
            same = []
        same.append(distant)
    yield from reversed(same)


def merged(
    later: Iterator[_Distant | None], earlier: Iterator[_Distant | None], *, earlier_first: bool
) -> Iterator[Line | None]:
    """Both, by distance; `earlier_first`: of equal ones.  None where either has it.

    Lines at the very moment need no look the other way.
    """
    after = yield from _next(later)
    while after is not None and after[0] == 0:
        yield after[1]
        after = yield from _next(later)
    before = yield from _next(earlier)
    while after is not None or before is not None:
        is_before = after is None or (
            before is not None and before[0] < after[0] + (1 if earlier_first else 0)
        )
        if is_before and before is not None:
            yield before[1]
            before = yield from _next(earlier)
        elif after is not None:
            yield after[1]
            after = yield from _next(later)


def _next(lines: Iterator[_Distant | None]) -> Generator[None, None, _Distant | None]:
    for distant in lines:
        if distant is not None:
            return distant
        yield None
    return None


def in_batches(lines: Iterable[Line | None], most_lines: int) -> Iterator[list[Line]]:
    """Lines in batches, which end where there is None."""
    batch: list[Line] = []
    for line in lines:
        if line is not None:
            batch.append(line)
        if line is None or len(batch) == most_lines:
            yield batch
            batch = []
    yield batch


def nearest(batches: Iterable[list[Line]], moment: int, most_lines: int) -> Iterator[list[Line]]:
    """Lines of many URLs by their distance from a moment."""

    def distance(line: Line) -> int:
        return abs(_seconds_of(line) - moment)

    found: list[Line] = []
    for batch in batches:
        found += batch
        if len(found) > 2 * most_lines + _MORE_LINES:
            found = sorted(found, key=distance)[:most_lines]
        yield []
    yield sorted(found, key=distance)[:most_lines]

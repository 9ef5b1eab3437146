"""The URLs of a key range with their captures: how many, the first, the last.

Reads a bounded number of rows a page, and skips what further captures a URL has: of a URL with
many, the number is "at least".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from pinakes.access.readable import KEY_ONLY, ReadableCaptures, ReadBudget, Sighting
from pinakes.hbase_schema.ranges import KeyRange, prefix_range

URLS = 100
ROWS = 5_000
COUNTED = 200
_BEHIND = b"!"
"""Follows the space in byte order: what begins the keys after all captures of a urlkey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlLine:
    """A URL, as its first capture writes it; `is_least`: it has more captures than counted."""

    urlkey: str
    target_uri: str
    captures: int
    is_least: bool
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlPage:
    """Some URLs.  `after` is the urlkey after which the next page begins, None if this is the
    last; `is_stopped`: reading ended at its bound, before the page was full."""

    lines: tuple[UrlLine, ...]
    after: str | None
    is_stopped: bool
    rows_read: int


def list_urls(
    captures: ReadableCaptures, key_range: KeyRange, *, after: str = "", urls: int = URLS
) -> UrlPage:
    """A page of URLs, after one; reads at most `ROWS` rows, and a few for each URL."""
    start = key_range.start_row
    if after:
        start = max(start, after.encode("ascii", "replace") + _BEHIND)
    budget = ReadBudget(rows=ROWS)
    lines: list[UrlLine] = []
    is_at_end = False
    while not is_at_end and len(lines) < urls and not budget.is_spent:
        rest = KeyRange(start, key_range.stop_row)
        sightings = captures.scan(rest, budget, columns=KEY_ONLY)
        is_at_end = True
        for urlkey, group in groupby(sightings, key=lambda one: one.urlkey):
            if len(lines) == urls:
                is_at_end = False
                break
            line = _line(captures, budget, urlkey, group)
            lines.append(line)
            if line.is_least:  # the rest of its captures is skipped
                start, is_at_end = urlkey + _BEHIND, False
                break
    # Where all that was read was shown, what the bound cut off begins after the last row.
    is_cut = is_at_end and budget.is_spent
    after_key = budget.last_key if is_cut else (lines[-1].urlkey.encode() if lines else None)
    is_more = is_cut or not is_at_end
    return UrlPage(
        lines=tuple(lines),
        after=after_key.partition(b" ")[0].decode("ascii") if is_more and after_key else None,
        is_stopped=is_more and len(lines) < urls,
        rows_read=ROWS - budget.rows,
    )


def _line(
    captures: ReadableCaptures, budget: ReadBudget, urlkey: bytes, group: Iterator[Sighting]
) -> UrlLine:
    first = last = next(group)
    count = 1
    while count < COUNTED and (one := next(group, None)) is not None:
        count, last = count + 1, one
    newest = last
    if count == COUNTED or budget.is_spent:
        newest = newest_of(captures, urlkey) or last
    return UrlLine(
        urlkey=urlkey.decode("ascii"),
        target_uri=first.capture.facts.target_uri,
        captures=count,
        is_least=newest.key != last.key,
        first=first.time,
        last=newest.time,
    )


def newest_of(captures: ReadableCaptures, urlkey: bytes) -> Sighting | None:
    """The newest capture of a URL; None if none of the newest may be shown."""
    few = ReadBudget(rows=COUNTED)
    found = captures.scan(prefix_range(urlkey + b" "), few, columns=KEY_ONLY, reverse=True)
    return next(found, None)


def has_captures(captures: ReadableCaptures, urlkey: bytes) -> bool:
    """Whether one of the first captures of a URL may be shown."""
    found = captures.scan(prefix_range(urlkey + b" "), ReadBudget(rows=ROWS), columns=KEY_ONLY)
    return next(found, None) is not None

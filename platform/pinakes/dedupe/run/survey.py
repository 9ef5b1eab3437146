"""One pass over the sidecars of a collection, for what no capture tells of itself.

    settled   an earlier run made it an original, and references to it are written
    late      it landed behind a later capture of its content
    wanted    a revisit of ours that a revisit of somebody else refers to, or whose original
              cannot be addressed any more: another body of its urlkey and second has landed

Captures land at one time, as dedupe sees it, where the same run is the first to decide on
them: crawls that wait for one run are judged as all together, however their files came.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.decide.clusters import CLASH, PINNED
from pinakes.dedupe.decide.flags import flag_lines
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of

from .stored_lines import landed_line

_ARRIVAL_BYTES = 400
_NUMBER_BYTES = 40


class Arrival(NamedTuple):
    """A capture that may take part.  A tuple, sorted by its fields: there is one for each.

    `content` is SHA-256 and status.  Unequal bodies of one SHA-256 are one content here:
    a capture too many is late then, which never makes a reference wrong.
    """

    content: str
    landing: int
    second: str
    file: str
    ordinal: int
    number: int


class Survey:
    """What the pass found.  Memory: a number for each original that is referred to."""

    def __init__(self, space: SortSpace) -> None:
        self._settled: set[int] = set()
        self.late: Spool[int] = Spool(space=space, item_bytes=lambda _: _NUMBER_BYTES)
        """Numbers of captures, in the order of the pass."""
        self.wanted: dict[str, set[tuple[int, int]]] = defaultdict(set)
        """Offset and inner offset of each such record, by file."""
        self._ambiguous: set[int] = set()

    def settle(self, row: SidecarRow) -> None:
        """Note what a revisit of ours refers to."""
        self._settled.add(_referred(row))

    def is_settled(self, line: ManifestLine) -> bool:
        """Whether a revisit of ours names this capture, or another of its URI and second."""
        return _address(line) in self._settled

    def note_ambiguous(self, line: ManifestLine) -> None:
        """Note a capture that shares its urlkey and second with another body."""
        if self.is_settled(line):
            self._ambiguous.add(_address(line))

    def want_unaddressable(self, name: str, rows: Iterable[SidecarRow]) -> None:
        """Want the revisits of ours in a file that refer to such a capture."""
        for row in rows if self._ambiguous else ():
            if row.is_replaced and _referred(row) in self._ambiguous:
                self.wanted[name].add((row.offset, row.inner_offset))


def _address(line: ManifestLine) -> int:
    return hash((line.target_uri, second_of(line.date)))


def _referred(row: SidecarRow) -> int:
    return hash((row.refers_uri, second_of(row.refers_date or "")))


def survey_captures(
    rows: Iterable[tuple[str, int, SidecarRow]], *, look_around: bool, space: SortSpace
) -> Survey:
    """Look at each record's archive file, time of landing and row, in order of file.

    A capture's number counts the captures before it.  `look_around`: find what revisits of
    others want, as `flags` looks for pins, and what clashes, among the records as they
    landed.  Memory: a few times `space`.
    """
    found = Survey(space)
    with Spool[Arrival](space=space, item_bytes=lambda _: _ARRIVAL_BYTES) as arrivals:
        lines = _lines(rows, found, arrivals)
        if look_around:
            for line, flags in flag_lines(lines, space=space):
                if flags & PINNED and line.copy_number is not None:
                    found.wanted[line.file].add((line.offset, line.inner_offset))
                if flags & CLASH:
                    found.note_ambiguous(line)
        else:
            deque(lines, maxlen=0)
        for number in sort_outside_memory(late_arrivals(arrivals, space), space=space):
            found.late.append(number)
    return found


def _lines(
    rows: Iterable[tuple[str, int, SidecarRow]], found: Survey, arrivals: Spool[Arrival]
) -> Iterator[ManifestLine]:
    number = 0
    for name, landing, row in rows:
        line = landed_line(row, name)
        if line is None:
            continue
        if row.is_replaced:
            found.settle(row)
        second = second_of(line.date)
        if line.type is None and line.skip is None and second is not None:
            content = f"{line.digest} {line.status}"
            arrivals.append(Arrival(content, landing, second, name, row.ordinal, number))
        number += 1
        yield line


def late_arrivals(arrivals: Iterable[Arrival], space: SortSpace) -> Iterator[int]:
    """The numbers of the captures that landed behind a later one of their content."""
    ordered = sort_outside_memory(arrivals, space=space, item_bytes=lambda _: _ARRIVAL_BYTES)
    for _, copies in groupby(ordered, key=attrgetter("content")):
        latest_before: tuple[str, str, int] | None = None
        for _, landed in groupby(copies, key=attrgetter("landing")):
            latest = None
            for arrival in landed:
                latest = (arrival.second, arrival.file, arrival.ordinal)
                if latest_before is not None and latest < latest_before:
                    yield arrival.number
            latest_before = max(filter(None, (latest_before, latest)))

"""Sidecars as manifest lines, and one pass over them for what no capture shows by itself.

    settled   an earlier run made it an original, and references to it are written
    late      it landed after a later capture of its content
    wanted    a revisit of ours that a revisit of another writer refers to, or whose original
              cannot be addressed any more: another body of its urlkey and second has landed

Captures land at one time, as dedupe sees it, where the same run is the first to decide on
them: crawls that wait for one run are judged as all together, however their files came.
No archive file is read.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.catalog.generation_rows import without_decision
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.decide.clusters import CLASH, PINNED
from pinakes.dedupe.decide.flags import flag_lines
from pinakes.index.external_sort import Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.index.seconds import second_of
from pinakes.warc.digest import format_digest, parse_digest

_AS_WE_WRITE = re.compile(r"sha1:[A-Z2-7]{32}\Z")

_ARRIVAL_BYTES = 400
_NUMBER_BYTES = 40


def landed_line(row: SidecarRow, archive_file: str) -> ManifestLine | None:
    """The line of one record as it landed; None for what is no capture.

    One that is a revisit of ours now is recognised by its copy number; no other has one.
    """
    if not row.is_replaced:
        return stored_line(row, archive_file)
    line = stored_line(without_decision(row), archive_file)
    return line._replace(copy_number=row.copy_number) if line is not None else None


def stored_line(row: SidecarRow, archive_file: str) -> ManifestLine | None:
    """The line of one record in its current generation; None for what is no capture.

    A record that an earlier run has made a revisit stands as a revisit, so that its
    original is pinned.
    """
    if row.type not in CAPTURE_TYPES:
        return None
    is_revisit = row.type == "revisit" or row.is_replaced
    return ManifestLine(
        file=archive_file,
        offset=row.offset,
        length=row.length,
        target_uri=row.target_uri or "",
        date=row.date or "",
        digest=_digest(row),
        size=row.payload_size,
        status=row.status,
        skip=None if is_revisit else row.skip,
        type="revisit" if is_revisit else None if row.type == "response" else row.type,
        ctype=row.media_type if row.type == "resource" else None,
        inner_offset=row.inner_offset,
        record_id=row.record_id,
        refers_uri=row.refers_uri,
        refers_date=row.refers_date,
        refers_id=row.refers_id,
        also=",".join(_other_digests(row)) or None,
    )


def _digest(row: SidecarRow) -> str:
    if row.sha256 is not None:
        return format_digest("sha256", row.sha256)
    return _declared(row) or row.declared or "-"


def _declared(row: SidecarRow) -> str | None:
    if not row.declared or _AS_WE_WRITE.match(row.declared):
        return row.declared
    digest = parse_digest(row.declared)
    return None if digest is None else str(digest)


def _other_digests(row: SidecarRow) -> Iterator[str]:
    """What revisits of others may name this payload by.

    First the stored body's SHA-1, which `trust` takes for its second digest; last the one by
    which tools know the capture, that is declared, or else computed: see `also`.
    """
    if row.sha1 is None:
        return
    stored = format_digest("sha1", row.sha1)
    yield stored
    if row.dechunked_sha1 is not None:
        yield format_digest("sha1", row.dechunked_sha1)
    if row.dechunked_sha256 is not None:
        yield format_digest("sha256", row.dechunked_sha256)
    declared = _declared(row)
    if declared:
        yield declared
    elif row.dechunked_sha1 is not None:
        yield stored


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


class DuplicateSurvey:
    """What the pass found.  Memory: a number for each original that is referred to."""

    def __init__(self) -> None:
        self._settled: set[int] = set()
        self.late: Spool[int] = Spool(item_bytes=lambda _: _NUMBER_BYTES)
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
    rows: Iterable[tuple[str, int, SidecarRow]], *, look_around: bool
) -> DuplicateSurvey:
    """Look at each record's archive file, time of landing and row, in order of file.

    A capture's number counts the captures before it.  `look_around`: find what revisits of
    others want, as `flags` looks for pins, and what clashes, among the records as they
    landed.  Memory: that of a few sorts.
    """
    found = DuplicateSurvey()
    with Spool[Arrival](item_bytes=lambda _: _ARRIVAL_BYTES) as arrivals:
        lines = _lines(rows, found, arrivals)
        if look_around:
            for line, flags in flag_lines(lines):
                if flags & PINNED and line.copy_number is not None:
                    found.wanted[line.file].add((line.offset, line.inner_offset))
                if flags & CLASH:
                    found.note_ambiguous(line)
        else:
            deque(lines, maxlen=0)
        for number in sort_outside_memory(late_arrivals(arrivals)):
            found.late.append(number)
    return found


def _lines(
    rows: Iterable[tuple[str, int, SidecarRow]], found: DuplicateSurvey, arrivals: Spool[Arrival]
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


def late_arrivals(arrivals: Iterable[Arrival]) -> Iterator[int]:
    """The numbers of the captures that landed after a later one of their content."""
    ordered = sort_outside_memory(arrivals, item_bytes=lambda _: _ARRIVAL_BYTES)
    for _, copies in groupby(ordered, key=attrgetter("content")):
        latest_before: tuple[str, str, int] | None = None
        for _, landed in groupby(copies, key=attrgetter("landing")):
            latest = None
            for arrival in landed:
                latest = (arrival.second, arrival.file, arrival.ordinal)
                if latest_before is not None and latest < latest_before:
                    yield arrival.number
            latest_before = max(filter(None, (latest_before, latest)))

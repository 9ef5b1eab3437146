"""The bytes of an ARC file in order, and its parts: records, and bytes that are not records.

The *readable bytes* of an ARC file are: of an uncompressed file all its bytes; of a
compressed one the content of its members, and after a damaged member the raw bytes of the
file, from that member to the next one that can be read.  They cover the whole file, so a
conversion that carries over all readable bytes loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.warc.compression.members import compression_of
from pinakes.warc.damage import find_next_record
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Finding, Record
from pinakes.warc.source import Source
from pinakes.warc.stream import MemberStream

LINE_ENDS_LIMIT_BYTES = 64
_PIECE_BYTES = 1 << 20


class ArcPiece(NamedTuple):
    """Readable bytes: from the content of the member at `offset`, at `inner`; or raw file bytes.

    An uncompressed file counts as one member at 0.
    """

    raw: bool
    offset: int
    inner: int
    data: bytes | memoryview


class ReadablePlace(NamedTuple):
    """The place of a stretch of readable bytes; it may span several members."""

    raw: bool
    offset: int
    inner: int
    size: int
    line_ends: bytes
    """The line ends that it begins with, at most `LINE_ENDS_LIMIT_BYTES` of them."""

    def file_offset(self, *, compressed: bool) -> int:
        """Its offset in the file; in a compressed one, that of its member."""
        return self.offset if compressed or self.raw else self.inner

    def pieces(self, source: Source) -> Iterator[bytes | memoryview]:
        """Its bytes, read again."""
        if self.raw or compression_of(source) is None:
            start = self.offset if self.raw else self.inner
            yield from source.pieces(start, start + self.size)
            return
        stream = MemberStream(source, self.offset)
        _take(stream, self.inner)
        yield from _take_pieces(stream, self.size)


def readable_pieces(source: Source, start: int = 0) -> Iterator[ArcPiece]:
    """The readable bytes of a file, from first to last; memory of one piece.

    From `start` on, where a member begins; in an uncompressed file any byte.
    """
    at = start
    if compression_of(source) is None:
        for view in source.pieces(at, source.size):
            yield ArcPiece(False, 0, at, view)
            at += len(view)
        return
    while at < source.size:
        stream = MemberStream(source, at)
        while stream.peek(1):
            offset, inner = stream.place()
            yield ArcPiece(False, offset, inner, stream.take(_PIECE_BYTES))
        if stream.damage is None:
            return
        at = find_next_record(source, stream.resume_from, members=True, arc=True)
        start = stream.damaged_from
        for view in source.pieces(start, at):
            yield ArcPiece(True, start, 0, view)
            start += len(view)


class ArcBytes:
    """Moves through the readable bytes, from record to record."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._compressed = compression_of(source) is not None
        self._pieces = readable_pieces(source)
        self._piece: ArcPiece | None = None

    def take_until(self, record: Record | None) -> list[ReadablePlace]:
        """The bytes up to the record (None: the end of the file).

        Raises:
            MalformedRecord: if there is no record at that place.
        """
        place = self._place(record) if record else None
        gap = _Gap()
        while (piece := self._next()) is not None:
            if place is not None and not piece.raw and piece.offset == place[0]:
                before = place[1] - piece.inner
                if 0 <= before < len(piece.data):
                    gap.add(piece, before)
                    self._piece = rest_of(piece, before)
                    return gap.runs
            gap.add(piece, len(piece.data))
            self._piece = None
        if record is not None:
            raise MalformedRecord(
                "this record is not at the place where the reader found it; nothing was converted",
                file=self._source.name,
                offset=record.offset,
            )
        return gap.runs

    def skip(self, record: Record) -> None:
        """Skip the header line and block of a record.

        Raises:
            MalformedRecord: if there are not enough bytes.
        """
        left = len(record.header.raw) + record.block_size
        while left:
            piece = self._next()
            if piece is None or piece.raw:
                raise MalformedRecord(
                    "this record is not as long as the reader found it; nothing was converted",
                    file=self._source.name,
                    offset=record.offset,
                )
            taken = min(left, len(piece.data))
            left -= taken
            self._piece = rest_of(piece, taken)

    def _place(self, record: Record) -> tuple[int, int]:
        if self._compressed:
            return record.offset, record.inner_offset
        return 0, record.offset

    def _next(self) -> ArcPiece | None:
        if self._piece is None:
            self._piece = next(self._pieces, None)
        return self._piece


class _Gap:
    """The runs between two records, collected from pieces."""

    def __init__(self) -> None:
        self.runs: list[ReadablePlace] = []

    def add(self, piece: ArcPiece, count: int) -> None:
        if not count:
            return
        data = piece.data[:count]
        if self.runs and self.runs[-1].raw == piece.raw:
            last = self.runs[-1]
            line_ends = last.line_ends
            if last.size == len(line_ends):
                line_ends = (line_ends + _line_ends(data))[:LINE_ENDS_LIMIT_BYTES]
            self.runs[-1] = last._replace(size=last.size + count, line_ends=line_ends)
        else:
            self.runs.append(
                ReadablePlace(piece.raw, piece.offset, piece.inner, count, _line_ends(data))
            )


def _line_ends(data: bytes | memoryview) -> bytes:
    start = bytes(data[:LINE_ENDS_LIMIT_BYTES])
    return start[: len(start) - len(start.lstrip(b"\r\n"))]


def rest_of(piece: ArcPiece, taken: int) -> ArcPiece | None:
    """What is left of a piece of which so many bytes are taken; None where nothing is."""
    if taken == len(piece.data):
        return None
    return piece._replace(inner=piece.inner + taken, data=piece.data[taken:])


def _take(stream: MemberStream, count: int) -> None:
    for _ in _take_pieces(stream, count):
        pass


def _take_pieces(stream: MemberStream, count: int) -> Iterator[bytes]:
    while count > 0:
        piece = stream.take(count)
        if not piece:
            return
        count -= len(piece)
        yield piece


class ArcRecord(NamedTuple):
    """A record, and the line ends that follow it."""

    record: Record
    after: bytes


class NonRecordBytes(NamedTuple):
    """Readable bytes that are not a record, and why."""

    run: ReadablePlace
    reason: str


def iter_parts(source: Source) -> Iterator[ArcRecord | NonRecordBytes]:
    """Records and stretches in file order: together, all readable bytes.

    Raises:
        InputRefused: at a WARC record.
        MalformedRecord: if a record is not where the reader found it, as in a file with a
            kind of damage that is not handled.
    """
    walk = ArcBytes(source)
    record: Record | None = None
    reason: str | None = None
    for item in iter_records(source):
        if isinstance(item, DamagedStretch):
            reason = reason or item.reason
            continue
        refuse_warc(item, source)
        yield from _divide(record, walk.take_until(item), reason)
        walk.skip(item)
        record, reason = item, None
    yield from _divide(record, walk.take_until(None), reason)


def _divide(
    record: Record | None, gap: list[ReadablePlace], reason: str | None
) -> Iterator[ArcRecord | NonRecordBytes]:
    """The record before a gap with the line ends that close it; then the rest of the gap."""
    after = b""
    if record is not None:
        if gap and not gap[0].raw:
            first = gap[0]
            after = first.line_ends
            rest = first._replace(inner=first.inner + len(after), size=first.size - len(after))
            gap = [rest, *gap[1:]] if rest.size else gap[1:]
        yield ArcRecord(record, after)
        reason = reason or next((finding.message for finding in record.findings), None)
    for run in gap:
        yield NonRecordBytes(run, reason or "line ends that belong to no record")


def findings_of(record: Record) -> list[Finding]:
    """The findings about a record itself, without those about members."""
    return [finding for finding in record.findings if finding.code != "member"]


def refuse_warc(record: Record, source: Source) -> None:
    """Raise InputRefused if the record is not that of an ARC file."""
    if not record.version.startswith("ARC"):
        raise InputRefused(
            "a WARC record: only ARC files are converted", file=source.name, offset=record.offset
        )

"""Records of an archive file, in order, each byte accounted for.

There are two paths, with the same results.  The fast path takes a record that fills
exactly one compressed member (or is in an uncompressed file), if header, Content-Length and
closing line ends add up to its size.  Everything else takes the slow path: `parse` over a
`ByteStream`, which handles any file.

Records and damaged stretches together cover the file: only line ends and empty
members lie between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pinakes.warc.compression.members import compression_of, iter_whole, why_unread

from .damage import RECORD_START, find_next_record, holds_members
from .field_names import CONTENT_LENGTH_KEY, WARC_TYPE_KEY
from .header import Header, record_bytes
from .opening import Place, open_source
from .parse import NotARecord, parse_record
from .record import DamagedStretch, MemoryBody, Record
from .shapes import ShapeBook, ShapedHeader
from .source import IN_MEMORY_BYTES, Source
from .stream import ByteStream, MemberStream, PlainStream, skip_bytes

_PLAIN_PIECE_BYTES = 1 << 16
_CRLFCRLF = b"\r\n\r\n"
Item = Record | DamagedStretch


def iter_records(
    source: Source | Place,
    *,
    start: int = 0,
    digests: Sequence[str] = ("sha1",),
    types: Iterable[str] | None = None,
    skip_gets: bool = False,
) -> Iterator[Item]:
    """Yield every record and damaged stretch, from the member or record at `start` on.

    `source` may be a path or an open file, too (see `open_source`); it is then opened at the
    first record, and closed after the last.  With `types` only records of these types, in lower
    case, are yielded, and damaged stretches.  `digests` are computed while a block over
    `IN_MEMORY_BYTES` is read; smaller blocks are hashed on demand.  With `skip_gets` most GET
    requests are checked and counted like any record, but not yielded: they are half of a crawl.
    Memory is bounded by `IN_MEMORY_BYTES` and a window, regardless of what the file claims.
    No content of a file makes this raise; a file that becomes shorter while it is read raises
    InputRefused.
    """
    items = (
        _iter_items(source, start, digests, skip_gets)
        if isinstance(source, Source)
        else _iter_opened(source, start, digests, skip_gets)
    )
    if types is None:
        return items
    wanted = {types} if isinstance(types, str) else frozenset(types)
    return (item for item in items if isinstance(item, DamagedStretch) or item.type in wanted)


def _iter_opened(
    place: Place, start: int, digests: Sequence[str], skip_gets: bool
) -> Iterator[Item]:
    with open_source(place) as source:
        yield from _iter_items(source, start, digests, skip_gets)


def _iter_items(
    source: Source,
    start: int,
    digests: Sequence[str],
    skip_gets: bool,
    book: ShapeBook | None = None,
) -> Iterator[Item]:
    if source.size <= start:
        return
    members = holds_members(source, start)
    walk = _Walk(source, start, digests, members=members, skip_gets=skip_gets, book=book)
    while walk.offset < source.size:
        yield from walk.fast_members() if members else walk.fast_plain()
        if walk.offset < source.size:
            yield from walk.slowly()


def read_record(
    source: Source,
    offset: int,
    *,
    inner_offset: int = 0,
    digests: Sequence[str] = ("sha1",),
) -> Item | None:
    """The record at `offset` (and, in a shared member, at `inner_offset`); None past the end."""
    if inner_offset:
        item = _read_inside(source, offset, inner_offset, digests, arc=False)
    else:
        # To learn the shape of one header takes as long as to read it.
        item = next(_iter_items(source, offset, digests, False, ShapeBook(lessons=0)), None)
    if not isinstance(item, DamagedStretch) or not (offset or inner_offset):
        return item
    # In an ARC file, unusual header lines are accepted only after a record; here that is unknown.
    return _read_inside(source, offset, inner_offset, digests, arc=True)


def _read_inside(
    source: Source, offset: int, inner_offset: int, digests: Sequence[str], *, arc: bool
) -> Item | None:
    # What precedes it in the member may be the end of a record of an earlier member.
    members = inner_offset > 0 or compression_of(source, offset) is not None
    stream = MemberStream(source, offset) if members else PlainStream(source, offset)
    skip_bytes(stream, inner_offset)
    try:
        return parse_record(stream, 0, digests, arc=arc)
    except NotARecord as fault:
        return DamagedStretch(fault.offset, max(fault.search_from, offset + 1), fault.message)


class _Walk:
    """A reader's position in its file; the two paths hand over through `offset`."""

    def __init__(
        self,
        source: Source,
        start: int,
        digests: Sequence[str],
        *,
        members: bool,
        skip_gets: bool = False,
        book: ShapeBook | None = None,
    ) -> None:
        self.source = source
        self.offset = start
        self.ordinal = 0
        self.digests = digests
        self.members = members
        self.skip_gets = skip_gets
        self.arc = False
        self.book = book or ShapeBook()

    def fast_members(self) -> Iterator[Record]:
        """Records that fill one member each; stops before the first that does not."""
        book, skip_gets, ordinal = self.book, self.skip_gets, self.ordinal
        end = self.offset
        for offset, length, data in iter_whole(self.source, end):
            record = whole_record(data, ordinal, offset, length, book, skip_gets)
            if record is None:
                break
            end = offset + length
            ordinal += 1
            if record is not True:
                yield record
        self.offset, self.ordinal = end, ordinal

    def fast_plain(self) -> Iterator[Record]:
        """Records of an uncompressed file that end as in the standard."""
        while True:
            head = bytes(self.source.view(self.offset, _PLAIN_PIECE_BYTES))
            size = record_bytes(head)
            if size is None or size > IN_MEMORY_BYTES:
                return
            data = head if size <= len(head) else bytes(self.source.view(self.offset, size))
            length = size - len(_CRLFCRLF)
            record = whole_record(data[:size], self.ordinal, self.offset, length, self.book, False)
            if record is None or record is True:
                return
            self.offset += size
            self.ordinal += 1
            yield record

    def slowly(self) -> Iterator[Item]:
        """Records of any form, up to a member's start where the fast path can continue."""
        reason = None if self.offset else why_unread(bytes(self.source.view(0, 4)))
        if reason:
            # What looks like a record in it is content of the member.
            self.offset = self.source.size
            yield DamagedStretch(0, self.offset, reason)
            return
        stream: ByteStream
        stream = (
            MemberStream(self.source, self.offset)
            if self.members
            else PlainStream(self.source, self.offset)
        )
        covered = self.offset
        while True:
            try:
                record = parse_record(stream, self.ordinal, self.digests, arc=self.arc)
            except NotARecord as fault:
                covered = max(covered, fault.offset)
                yield from self._resume(fault.search_from, covered, fault.message)
                return
            if record is None:
                self.offset = self.source.size
                return
            self.arc = record.version.startswith("ARC")
            self.ordinal += 1
            covered = record.offset + record.length
            yield record
            if stream.damage is not None and not stream.peek(1):
                covered = max(covered, stream.damaged_from)
                yield from self._resume(stream.resume_from, covered, stream.damage.message)
                return
            if not self.arc and (stream.at_member_start() or not self.members):
                self.offset = stream.place()[0]
                if self.offset > record.offset:
                    return

    def _resume(self, search_from: int, covered: int, reason: str) -> Iterator[DamagedStretch]:
        """Continue at the next record; bytes between `covered` and it are a damaged stretch."""
        self.offset = find_next_record(self.source, search_from, members=self.members, arc=self.arc)
        if covered < self.offset:
            yield DamagedStretch(covered, self.offset, reason)


_VERSION_LINE = re.compile(rb"(WARC/\d\.\d+)\r\n")
_CRLFCRLF = b"\r\n\r\n"
_HEADER_LIMIT_BYTES = 1 << 16


def whole_record(
    data: bytes | bytearray,
    ordinal: int,
    offset: int,
    file_length: int,
    book: ShapeBook,
    skip_gets: bool,
) -> Record | Literal[True] | None:
    """The WARC record that is exactly these bytes; None if the slow path has to read them.

    `offset` and `file_length` are its place in the file.  True, with `skip_gets`, is
    an intact GET request, for which no object is built.
    """
    match = book.match(data)
    shape = book.shape
    if match is None or shape is None:
        return _unshaped_record(data, ordinal, offset, file_length, book)
    start, length = match.end(), int(match[shape.length_group])
    if start + length + 4 != len(data) or not data.endswith(_CRLFCRLF):
        return None
    if start > _HEADER_LIMIT_BYTES:
        return None
    if skip_gets and shape.record_type == "request" and data.startswith(b"GET ", start):
        return True
    header = ShapedHeader(shape, match, length)
    body = MemoryBody(data, start, start + length)
    return Record(
        ordinal, offset, file_length, header, body, length, shape.version, shape.record_type
    )


def _unshaped_record(
    data: bytes | bytearray, ordinal: int, offset: int, file_length: int, book: ShapeBook
) -> Record | None:
    start = data.find(b"\n\r\n") + 3
    if not 3 < start < _HEADER_LIMIT_BYTES:
        return None
    raw = bytes(data[:start])
    version = _VERSION_LINE.match(raw)
    if version is None or RECORD_START.match(raw) is None or b"\n\n" in raw:
        return None
    header = Header(raw)
    digits = header.field(CONTENT_LENGTH_KEY) or ""
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        return None
    length = int(digits)
    if start + length + 4 != len(data) or not data.endswith(_CRLFCRLF):
        return None
    book.learn(raw)
    record_type = (header.field(WARC_TYPE_KEY) or "").lower()
    body = MemoryBody(data, start, start + length)
    return Record(
        ordinal, offset, file_length, header, body, length, version[1].decode("ascii"), record_type
    )

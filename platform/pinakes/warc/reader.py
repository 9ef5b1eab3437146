"""Records of an archive file, in order, each byte accounted for.

Two roads lead to the same records.  The fast one takes a record that fills exactly
one gzip member (or stands in an uncompressed file) and proves by arithmetic that
header, Content-Length and the closing line ends fill it; whatever does not fit goes
the slow road of `parse` over a `ByteStream`, which handles everything.

Records and damaged stretches together cover the file: between them lie only line
ends, and gzip members without content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from isal import igzip_lib

from .damage import find_next_record
from .header import Header
from .members import GZIP_MAGIC, MEMBER_START, InflateError
from .parse import NotARecord, parse_record
from .record import DamagedStretch, MemoryBody, Record
from .source import Source
from .stream import ByteStream, MemberStream, PlainStream

IN_MEMORY_BYTES = 1 << 22
_FIRST_PIECE_BYTES = 1 << 13
_PLAIN_PIECE_BYTES = 1 << 16
_VERSION_LINE = re.compile(rb"(WARC/\d\.\d+)\r\n")
_LENGTH = b"\r\nContent-Length: "
_TYPE = b"\r\nWARC-Type: "
_CRLFCRLF = b"\r\n\r\n"
Item = Record | DamagedStretch


def iter_records(
    source: Source, *, start: int = 0, digests: Sequence[str] = ("sha1",)
) -> Iterator[Item]:
    """Yield every record from the member or record at `start`, and what is none.

    `digests` are computed in passing for blocks over `IN_MEMORY_BYTES`; smaller ones
    are hashed when asked.  Memory is bounded by `IN_MEMORY_BYTES` and a window,
    whatever the file claims.  Nothing in a file makes this raise; a file that
    becomes shorter under the reader raises InputRefused.
    """
    if source.size <= start:
        return
    first = bytes(source.view(start, 4))
    members = MEMBER_START.match(first) is not None
    walk = _Walk(source, start, digests, members=members)
    while walk.offset < source.size:
        if first[:3] == GZIP_MAGIC:
            yield from walk.fast_gzip()
        elif not members:
            yield from walk.fast_plain()
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
    for item in iter_records(source, start=offset, digests=digests):
        if isinstance(item, DamagedStretch) or item.inner_offset >= inner_offset:
            return item
    return None


class _Walk:
    """Where a reader stands in its file; the two roads hand over through `offset`."""

    def __init__(
        self, source: Source, start: int, digests: Sequence[str], *, members: bool
    ) -> None:
        self.source = source
        self.offset = start
        self.ordinal = 0
        self.digests = digests
        self.members = members
        self.arc = False

    def fast_gzip(self) -> Iterator[Record]:
        """Records that fill one member each; stops before the first that does not."""
        source = self.source
        offset, ordinal = self.offset, self.ordinal
        inflater_class, flag = igzip_lib.IgzipDecompressor, igzip_lib.DECOMP_GZIP
        while True:
            view = source.view(offset, _FIRST_PIECE_BYTES)
            inflater = inflater_class(flag)
            try:
                data = inflater.decompress(view, IN_MEMORY_BYTES)
                fed = offset + len(view)
                if not inflater.eof:
                    data, fed = self._inflate_rest(inflater, data, fed)
            except (InflateError, EOFError):
                break
            if not inflater.eof:
                break
            record = _whole_record(data, ordinal)
            if record is None:
                break
            record.offset = offset
            end = fed - len(inflater.unused_data)
            record.length = end - offset
            self.offset = offset = end
            self.ordinal = ordinal = ordinal + 1
            yield record

    def _inflate_rest(
        self, inflater: igzip_lib.IgzipDecompressor, data: bytes, fed: int
    ) -> tuple[bytes, int]:
        """Feed on until the member ends, the file does, or the memory bound is reached."""
        parts = [data]
        room = IN_MEMORY_BYTES - len(data)
        step = _FIRST_PIECE_BYTES * 4
        while room > 0 and not inflater.eof:
            view = self.source.view(fed, step) if inflater.needs_input else memoryview(b"")
            if inflater.needs_input and not view:
                break
            fed += len(view)
            part = inflater.decompress(view, room)
            parts.append(part)
            room -= len(part)
        return b"".join(parts), fed

    def fast_plain(self) -> Iterator[Record]:
        """Records of an uncompressed file that close as the standard says."""
        while True:
            head = bytes(self.source.view(self.offset, _PLAIN_PIECE_BYTES))
            size = _record_bytes(head)
            if size is None or size > IN_MEMORY_BYTES:
                return
            data = head if size <= len(head) else bytes(self.source.view(self.offset, size))
            record = _whole_record(data[:size], self.ordinal)
            if record is None:
                return
            record.offset = self.offset
            record.length = size - len(_CRLFCRLF)
            self.offset += size
            self.ordinal += 1
            yield record

    def slowly(self) -> Iterator[Item]:
        """Records of any shape, until a member's start where the fast road may go on."""
        stream: ByteStream
        stream = (
            MemberStream(self.source, self.offset)
            if self.members
            else PlainStream(self.source, self.offset)
        )
        while True:
            try:
                record = parse_record(stream, self.ordinal, self.digests, arc=self.arc)
            except NotARecord as fault:
                yield from self._resume_after(fault)
                return
            if record is None:
                self.offset = self.source.size
                return
            self.arc = record.version.startswith("ARC")
            self.ordinal += 1
            after = record.offset + record.length
            yield record
            if stream.damage is not None and not stream.peek(1):
                self.offset = find_next_record(
                    self.source,
                    stream.damage.offset,
                    members=self.members,
                    arc=self.arc,
                )
                if after < self.offset:
                    yield DamagedStretch(after, self.offset, stream.damage.message)
                return
            if not self.arc and (stream.at_member_start() or not self.members):
                self.offset = stream.place()[0]
                if self.offset > record.offset:
                    return

    def _resume_after(self, fault: NotARecord) -> Iterator[DamagedStretch]:
        self.offset = find_next_record(
            self.source, fault.search_from, members=self.members, arc=self.arc
        )
        yield DamagedStretch(fault.offset, self.offset, fault.message)


def _whole_record(data: bytes, ordinal: int) -> Record | None:
    """The WARC record that is exactly these bytes, or None: then the slow road decides.

    The header must end its lines with CRLF and name Content-Length as the standard
    spells it; then header, block and two line ends must add up to the last byte.
    """
    crlf = data.find(b"\n\r\n")
    version = _VERSION_LINE.match(data)
    if crlf < 0 or version is None or data.find(b"\n\n", 0, crlf) >= 0:
        return None
    start = crlf + 3
    at = data.find(_LENGTH, 0, start)
    if at < 0:
        return None
    digits = data[at + 18 : data.index(b"\r", at + 18)]
    if not digits.isdigit():
        return None
    length = int(digits)
    if start + length + 4 != len(data) or not data.endswith(_CRLFCRLF):
        return None
    header = Header(data[:start])
    at = data.find(_TYPE, 0, start)
    if at < 0:
        return None
    record_type = data[at + 13 : data.index(b"\r", at + 13)].decode("utf-8", "replace")
    body = MemoryBody(data, start, start + length)
    return Record(
        ordinal,
        0,
        0,
        header,
        body,
        length,
        version[1].decode("ascii"),
        record_type.strip().lower(),
    )


def _record_bytes(head: bytes) -> int | None:
    """How long the record at the start of an uncompressed file's window says it is."""
    end = head.find(b"\n\r\n")
    at = head.find(_LENGTH, 0, end + 3)
    if end < 0 or at < 0:
        return None
    digits = head[at + 18 : head.index(b"\r", at + 18)]
    return end + 3 + int(digits) + 4 if digits.isdigit() else None

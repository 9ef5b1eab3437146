"""Where a record ends: its block, the line ends that close it, and its member.

The second half of the slow path, after the header.  Anything that does not add up is a
`Finding`; the record is still returned, and the next record is not lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.warc.compression.members import unit_at
from pinakes.warc.compression.port import Damage
from pinakes.warc.http.message import HttpHead, head_end

from .arc import ArcHeader, match_arc_header
from .block_length import (
    closing_bytes,
    holds_start,
    length_before_line,
    length_before_record,
    length_without_number,
    usable_length,
    without_line_ends,
)
from .damage import find_next_record, line_at, next_line, starts_record
from .field_names import WARC_TYPE_KEY
from .header import Header
from .record import UNREADABLE, Body, Finding, HidingFinding, MemoryBody, Record, measure
from .source import IN_MEMORY_BYTES
from .stream import ByteStream, MemberStream, PlainStream, skip_bytes
from .tombstone import TOMBSTONE_TYPE, is_tombstone

_PEEK_BYTES = 1 << 13
_VERSION = b"WARC/"
# What may follow the last record of an ARC file, where its end is not a line end.
_PADDING = b"\r\n\t \0"


class StreamedBody:
    """A block too large for memory: each reading inflates it again."""

    __slots__ = ("_members", "_offset", "_skip", "_source", "size")

    def __init__(self, stream: ByteStream, offset: int, skip: int, size: int) -> None:
        self._source = stream.source
        self._members = isinstance(stream, MemberStream)
        self._offset = offset
        self._skip = skip
        self.size = size

    def pieces(self, start: int, /) -> Iterator[bytes]:
        left = self.size - start
        if self._members:
            stream: ByteStream = MemberStream(self._source, self._offset)
            skip_bytes(stream, self._skip + start)
        else:
            stream = PlainStream(self._source, self._offset + self._skip + start)
        while left > 0:
            piece = stream.take(left)
            if not piece:
                return
            left -= len(piece)
            yield piece


def take_record(stream: ByteStream, header: Header, ordinal: int, digests: Sequence[str]) -> Record:
    """Take the record that begins with `header`; the stream is still before the header."""
    return _Taking(stream, ordinal, digests).record(header)


class _Taking:
    """A record that is being read: where it began, and the findings so far."""

    def __init__(self, stream: ByteStream, ordinal: int, digests: Sequence[str]) -> None:
        self.stream = stream
        self.ordinal = ordinal
        self.digests = digests
        self.offset, self.inner = stream.place()
        self.findings: list[Finding] = []
        self.is_cut = False

    def find(self, code: str, message: str, offset: int | None = None) -> None:
        self.findings.append(Finding(code, message, self.offset if offset is None else offset))

    def find_hiding(self, code: str, message: str) -> None:
        self.findings.append(HidingFinding(code, message, self.offset))

    def has(self, *codes: str) -> bool:
        return any(finding.code in codes for finding in self.findings)

    def record(self, header: Header) -> Record:
        stream = self.stream
        promised = usable_length(header)
        lf_only = header.line_end == b"\n" and not isinstance(header, ArcHeader)
        if lf_only:
            self.find("line-end", "header lines end with LF instead of CRLF")
        skip_bytes(stream, len(header.raw))
        if head_end(header.raw) < 0 and not isinstance(header, ArcHeader):
            what = "member" if stream.at_member_start() else "file"
            self.find("truncated", f"the {what} ends in the record header")
            promised = promised or 0
        elif promised is None:
            self.find(
                "content-length",
                "no usable Content-Length: the block ends at the next record",
            )
            promised = self.bytes_to_next_record(header)
        record = self.take_block(header, self.length_before_next_record(header, promised))
        record.content_length = promised
        block_end = stream.position
        self.check_length(record)
        self.take_record_end(lf_only=lf_only, arc=isinstance(header, ArcHeader))
        self.check_inside(record)
        record.offset, record.inner_offset = self.offset, self.inner
        record.length = self.length(block_end)
        record.findings = tuple(self.findings)
        return record

    def bytes_to_next_record(self, header: Header) -> int:
        """The length of a block that declares none; 0 in a member, whose end is the block's."""
        stream = self.stream
        is_arc = isinstance(header, ArcHeader)
        if isinstance(stream, MemberStream):
            if not isinstance(header, ArcHeader):
                return 0
            return length_without_number(stream, header, alone=not self.inner)
        start = stream.position
        end = find_next_record(stream.source, start, members=False, arc=is_arc)
        return without_line_ends(stream.look, end - start, closing_bytes(header))

    def take_block(self, header: Header, length: int) -> Record:
        arc = isinstance(header, ArcHeader)
        if length <= IN_MEMORY_BYTES:
            data = b"".join(self.block_pieces(length, arc=arc))
            body: Body = MemoryBody(data, 0, len(data))
            record = self.build(header, body, length)
            if arc:
                record.type = _arc_type(record, data)
            return record
        skip = self.inner + len(header.raw)
        streamed = StreamedBody(self.stream, self.offset, skip, length)
        record = self.build(header, streamed, length)
        if arc:
            record.type = _arc_type(record, self.stream.peek(64))
        start = self.stream.position
        record._measured = measure(
            self.block_pieces(length, arc=arc),
            http=record.holds_http,
            algorithms=self.digests,
        )
        streamed.size = self.stream.position - start
        return record

    def build(self, header: Header, body: Body, length: int) -> Record:
        record_type = (header.field(WARC_TYPE_KEY) or "").lower()
        return Record(self.ordinal, 0, 0, header, body, length, header.version, record_type)

    def block_pieces(self, length: int, *, arc: bool) -> Iterator[bytes]:
        """The block; ends early where a member begins with another record."""
        while length > 0:
            if self.stream.at_member_start() and self._starts_record(arc=arc):
                return
            piece = self.stream.take(length)
            if not piece:
                return
            length -= len(piece)
            yield piece
            self.stream.peek(1)

    def _starts_record(self, *, arc: bool) -> bool:
        # Check the first bytes first: a record may span very many members.
        first = self.stream.peek(len(_VERSION))
        may_start = first.upper() == _VERSION or (arc and first[:1].isalpha())
        return may_start and starts_record(self.stream.peek(_PEEK_BYTES), arc=arc)

    def length_before_next_record(self, header: Header, promised: int) -> int:
        """The length up to the next record, if Content-Length reaches past its beginning."""
        stream, found = self.stream, None
        if self.has("content-length"):
            return promised
        if isinstance(header, ArcHeader):
            found = length_before_line(stream, header, promised, (self.offset, self.inner))
        else:
            found = length_before_record(stream, header, promised, (self.offset, self.inner))
        if found is None:
            return promised
        self.is_cut = True
        self.find("block-length", "Content-Length reaches over the next record")
        return found

    def check_length(self, record: Record) -> None:
        missing = record.content_length - record.body.size
        if missing <= 0 or self.has("content-length", "block-length", "truncated"):
            return
        damage = self.stream.damage
        if damage is not None and damage.code != "truncated":
            self.find(damage.code, damage.message, damage.offset)
        elif not self.stream.peek(1):
            self.find("truncated", f"the file ends {missing} bytes before the block does")
        else:
            self.find("block-length", f"the block is {missing} bytes shorter than promised")

    def check_inside(self, record: Record) -> None:
        """Name a block of a member whose length is wrong, and in which a record may begin."""
        if not isinstance(self.stream, MemberStream) or isinstance(record.header, ArcHeader):
            return
        if self.is_cut or not self.has("block-length", "truncated"):
            return
        if holds_start(self.stream, record.body):
            what = "what looks like another record is inside the block, whose length is wrong"
            self.find_hiding("block-length", what)

    def take_record_end(self, *, lf_only: bool, arc: bool) -> None:
        stream = self.stream
        expected = b"\n" if arc else b"\n\n" if lf_only else b"\r\n\r\n"
        ahead = stream.peek(len(expected))
        if ahead == expected:
            skip_bytes(stream, len(expected))
        elif not arc and not self.has("truncated"):
            self.find("record-end", "the record is not closed by two line ends")
        elif ahead.strip(_PADDING) and isinstance(stream, PlainStream):
            line = line_at(stream.look, 0)
            if not self.has("block-length") and not match_arc_header(line, is_expected=True):
                self.find("block-length", "neither a line end nor a record follows the block")
        if isinstance(stream, MemberStream):
            self.take_rest_of_member(arc=arc)

    def take_rest_of_member(self, *, arc: bool) -> None:
        """In a member, only another record or line ends may follow a record."""
        stream = self.stream
        surplus = 0
        while stream.peek(1) and not stream.at_member_start():
            ahead = stream.peek(_PEEK_BYTES)
            blank = len(ahead) - len(ahead.lstrip(b"\r\n"))
            if blank:
                stream.take(blank)
            elif starts_record(ahead, arc=arc) or (
                arc and not surplus and match_arc_header(ahead, is_expected=True)
            ):
                break
            else:
                surplus += len(
                    stream.take(next_line(ahead, arc=arc, more=len(ahead) == _PEEK_BYTES))
                )
        if surplus:
            code = "content-length" if self.has("content-length") else "block-length"
            self.find_hiding(code, f"{surplus} bytes more in the member than the block has")
        alone = not self.inner and (stream.at_member_start() or not stream.peek(1))
        if not alone:
            self.find("member", f"several records share one {unit_at(stream.source, self.offset)}")

    def length(self, block_end: int) -> int:
        if isinstance(self.stream, PlainStream):
            return block_end - self.offset
        try:
            return self.stream.end_of_last_byte() - self.offset
        except Damage as damage:
            if not self.has(*UNREADABLE):
                self.find(damage.code, damage.message, damage.offset)
            return (damage.offset if damage.end is None else damage.end) - self.offset


def _arc_type(record: Record, block_start: bytes) -> str:
    """ARC records have no type: one with an HTTP status line is a response; a tombstone is none,
    so no index lists it."""
    uri = (record.target_uri or "").lower()
    if uri.startswith("filedesc:"):
        return "filedesc"
    if uri.startswith(("http:", "https:")) and HttpHead(block_start[:64]).status is not None:
        return "response"
    return TOMBSTONE_TYPE if is_tombstone(record.header) else "resource"

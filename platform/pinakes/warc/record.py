"""What a reader yields: records, damaged stretches, findings.

`Record` is a plain slotted class and not a dataclass: a reader makes billions of them, and
building a frozen dataclass of these fields costs three times as much as finding the whole
header.  Treat it as read-only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple, Protocol

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.warc.http.charsets import decode_text
from pinakes.warc.http.codings import Undecodable, decoded
from pinakes.warc.http.message import HEAD_LIMIT_BYTES, Dechunker, HttpHead, head_end

from .dates import parse_date
from .digest import Digest, hasher
from .field_names import (
    CONTENT_TYPE_KEY,
    WARC_DATE_KEY,
    WARC_RECORD_ID_KEY,
    WARC_TARGET_URI_KEY,
)
from .header import Header, bare_uri, shown, strip_brackets

_HTTP_TYPES = frozenset({"response", "request", "revisit"})
PIECE_BYTES = 1 << 20
CONTENT_LIMIT_BYTES = 1 << 26


class Finding(NamedTuple):
    """A fault of a record that could still be read.

    `code` is one of `FINDINGS`; `offset` is the place of the fault in the archive file.
    """

    code: str
    message: str
    offset: int


class HidingFinding(Finding):
    """A fault by which other records may be hidden: where it is, no record is read."""

    __slots__ = ()


FINDINGS = {
    "crc": "the checksum of the member does not match its content",
    "damaged": "the compressed data is damaged inside the record",
    "truncated": "the file ends inside the record, or a member inside its header",
    "content-length": "Content-Length is missing, or not a usable number",
    "block-length": "the block is shorter or longer than Content-Length says",
    "record-end": "the record is not closed by two line ends",
    "line-end": "header lines end with LF instead of CRLF",
    "member": "the record is not alone in one compressed member",
}
UNREADABLE = frozenset({"crc", "damaged", "truncated"})
"""Of these, those by which bytes of the block may be missing or wrong."""


NOT_WHOLE = frozenset({"crc", "damaged"})
"""Of these, those by which bytes of the block are wrong, and not only missing."""


class DamagedStretch(NamedTuple):
    """Bytes of an archive file that are not a record: `[offset, end)`, and why."""

    offset: int
    end: int
    reason: str


class Body(Protocol):
    """A record's block: in memory, or inflated again for each reading."""

    @property
    def size(self) -> int: ...
    def pieces(self, start: int, /) -> Iterator[bytes | memoryview]: ...


class MemoryBody:
    """A block in memory, as a slice of the inflated bytes."""

    __slots__ = ("data", "end", "size", "start")

    def __init__(self, data: bytes | bytearray | memoryview, start: int, end: int) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.size = end - start

    def pieces(self, start: int, /) -> Iterator[memoryview]:
        if self.start + start < self.end:
            yield memoryview(self.data)[self.start + start : self.end]


class Measured(NamedTuple):
    """Facts about the payload of a block too large for memory, from the one pass over it."""

    head: bytes
    stored: dict[str, Digest]
    dechunked: dict[str, Digest]
    chunks_finished: bool


class Record:
    """One record of an archive file, with its place in the file.

    `offset` and `length` are in bytes of the archive file: of the gzip member (or
    members) that hold the record, or from the version line to the end of the block in
    an uncompressed file.  `inner_offset` is where the record begins in the inflated
    member: 0 unless several records share one.  Values are as written.
    """

    __slots__ = (
        "_head",
        "_measured",
        "body",
        "content_length",
        "findings",
        "header",
        "inner_offset",
        "length",
        "offset",
        "ordinal",
        "type",
        "version",
    )

    def __init__(
        self,
        ordinal: int,
        offset: int,
        length: int,
        header: Header,
        body: Body,
        content_length: int,
        version: str,
        record_type: str,
    ) -> None:
        self.ordinal = ordinal
        self.offset = offset
        self.length = length
        self.header = header
        self.body = body
        self.content_length = content_length
        self.version = version
        self.type = record_type
        self.inner_offset = 0
        self.findings: tuple[Finding, ...] = ()
        self._head: HttpHead | bool | None = False
        self._measured: Measured | None = None

    def __repr__(self) -> str:
        parts = [self.type or "no type", self.target_uri or self.record_id, self.date_text]
        text = " ".join(filter(None, parts))
        return shown(f"<Record {self.ordinal} at {self.offset}: {text}>")

    @property
    def target_uri(self) -> str | None:
        return bare_uri(self.header.field(WARC_TARGET_URI_KEY))

    @property
    def date_text(self) -> str | None:
        """The date as written: all its digits, also where it is no date."""
        return self.header.field(WARC_DATE_KEY)

    @property
    def date(self) -> datetime | None:
        """The date as aware UTC, to the microsecond; None where it is missing or unreadable.

        A date that is less precise, such as `2020` or the 14 digits of ARC, is its first moment.
        """
        return parse_date(self.date_text or "")

    @property
    def record_id(self) -> str | None:
        return strip_brackets(self.header.field(WARC_RECORD_ID_KEY))

    @property
    def damage(self) -> list[Finding]:
        """The findings by which bytes of the block may be missing or wrong."""
        return [finding for finding in self.findings if finding.code in UNREADABLE]

    @property
    def block_size(self) -> int:
        """Bytes of the block that are stored: fewer than `content_length` if it is truncated."""
        return self.body.size

    def chunks(self, start: int = 0) -> Iterator[bytes | memoryview]:
        """The block from `start`, in pieces of at most 1 MiB or one piece in memory.

        May be called again; a block too large for memory is then inflated once more.
        """
        return self.body.pieces(start)

    @property
    def holds_http(self) -> bool:
        """Whether the block is an HTTP message, by Content-Type or by its first bytes."""
        if self.type not in _HTTP_TYPES:
            return False
        if self.header.declares_http:
            return True
        uri = (self.target_uri or "")[:6].lower()
        return uri.startswith(("http:", "https:")) and self._begins_with_http()

    def _begins_with_http(self) -> bool:
        """Some writers give a response the Content-Type of its payload."""
        first = bytes(next(self.body.pieces(0), b"")[:8]).upper()
        return first.startswith(b"HTTP/") or self.type == "request"

    @property
    def http(self) -> HttpHead | None:
        """The HTTP head of the block; None if the block is not an HTTP message."""
        head = self._head
        if head is False:
            head = self._head = self._read_head() if self.holds_http else None
        return head  # type: ignore[return-value]

    def _read_head(self) -> HttpHead | None:
        body = self.body
        if isinstance(body, MemoryBody):
            end = head_end(body.data, body.start, body.end)  # type: ignore[arg-type]
            return HttpHead(bytes(body.data[body.start : end if end >= 0 else body.end]))
        if self._measured is None:
            raise TypeError("a streamed record was not measured")
        return HttpHead(self._measured.head) if self._measured.head else None

    @property
    def payload_offset(self) -> int:
        """Where in the block the payload begins: after the HTTP head, else 0."""
        head = self.http
        return len(head.raw) if head is not None else 0

    @property
    def payload_size(self) -> int:
        """Bytes of the stored body, its transfer-coding included."""
        return self.body.size - self.payload_offset

    def payload(self) -> Iterator[bytes | memoryview]:
        """The stored body, in pieces."""
        return self.body.pieces(self.payload_offset)

    def content_pieces(self) -> Iterator[bytes | memoryview]:
        """The body without chunks and content-codings (gzip, deflate, br, zstd), in pieces.

        A piece is at most 2 MiB.  A body that is not chunked as its header says
        is left as it is, since many writers remove the chunks and leave the header.

        Raises:
            MalformedRecord: the body is not in the coding that its header names, or that
                coding is unknown.
        """
        try:
            yield from decoded(self)
        except Undecodable as error:
            raise MalformedRecord(
                f"{error}: payload() gives the bytes as stored", offset=self.offset
            ) from error

    def content(self, *, limit_bytes: int | None = CONTENT_LIMIT_BYTES) -> bytes:
        """The body without chunks and content-codings; that of a revisit is empty.

        Raises:
            InputRefused: it is longer than `limit_bytes` (None: any length), as the content of
                a few kilobytes may be.
            MalformedRecord: as `content_pieces`.
        """
        parts, size = [], 0
        for piece in self.content_pieces():
            size += len(piece)
            if limit_bytes is not None and size > limit_bytes:
                raise InputRefused(
                    f"the content of the record at {self.offset} is longer than {limit_bytes} "
                    "bytes: give a larger limit_bytes, or take content_pieces()"
                )
            parts.append(bytes(piece))
        return b"".join(parts)

    def text(self, *, limit_bytes: int | None = CONTENT_LIMIT_BYTES) -> str:
        """`content` as characters; what is not of its charset becomes U+FFFD.

        The charset is that of a byte order mark, of Content-Type, or of a `meta` element; else
        UTF-8 where the bytes fit, else windows-1252.
        """
        http = self.http
        field = self.header.field(CONTENT_TYPE_KEY) if http is None else http.get("content-type")
        return decode_text(self.content(limit_bytes=limit_bytes), field)

    def starts_with(self, prefix: bytes) -> bool:
        """Whether the block begins with `prefix` (given in upper case), letters in any case."""
        body = self.body
        if isinstance(body, MemoryBody):
            end = min(body.start + len(prefix), body.end)
            return bytes(body.data[body.start : end]).upper() == prefix
        return bytes(next(body.pieces(0), b"")[: len(prefix)]).upper() == prefix

    def payload_digest(self, algorithm: str = "sha1") -> Digest:
        """The digest of the stored body."""
        return Digest(algorithm, self.payload_hash(algorithm))

    def payload_hash(self, algorithm: str = "sha1") -> bytes:
        """The bytes of `payload_digest`, without a `Digest` object: for the inner loop."""
        body = self.body
        if isinstance(body, MemoryBody):
            head = self.http
            start = body.start if head is None else body.start + len(head.raw)
            return hasher(algorithm)(memoryview(body.data)[start : body.end]).digest()
        if self._measured is not None and algorithm in self._measured.stored:
            return self._measured.stored[algorithm].value
        return _digest(algorithm, self.payload()).value

    def block_digest(self, algorithm: str = "sha1") -> Digest:
        """The digest of the whole block (`WARC-Block-Digest`)."""
        return _digest(algorithm, self.chunks())

    def dechunked_digest(self, algorithm: str = "sha1") -> Digest | None:
        """The digest of the body without chunked coding; None where it is not chunked."""
        if self._measured is not None and algorithm in self._measured.dechunked:
            return self._measured.dechunked[algorithm]
        if self.http is None or not self.http.says_chunked:
            return None
        dechunker = Dechunker()
        digest = _digest(algorithm, (b for p in self.payload() for b in dechunker.feed(p)))
        return digest if dechunker.finished else None

    @property
    def chunks_finished(self) -> bool:
        """Whether a body that is declared as chunked is chunked, up to the last chunk."""
        if self._measured is not None:
            return self._measured.chunks_finished
        dechunker = Dechunker()
        for piece in self.payload():
            dechunker.feed(piece)
        return dechunker.finished


def _digest(algorithm: str, pieces: Iterator[bytes | memoryview]) -> Digest:
    state = hasher(algorithm)()
    for piece in pieces:
        state.update(piece)
    return Digest(algorithm, state.digest())


def measure(pieces: Iterator[bytes], *, http: bool, algorithms: Sequence[str]) -> Measured:
    """Read a block once, keeping its HTTP head and the digests of its payload.

    Memory: the head and one piece.  A head over `HEAD_LIMIT_BYTES` does not count as one;
    the payload is then the whole block.
    """
    head, first = _split_head(pieces) if http else (b"", b"")
    stored = [hasher(name)() for name in algorithms]
    dechunked = [hasher(name)() for name in algorithms]
    dechunker = Dechunker() if head and HttpHead(head).says_chunked else None
    for piece in chain((first,), pieces):
        for state in stored:
            state.update(piece)
        for part in dechunker.feed(piece) if dechunker else ():
            for state in dechunked:
                state.update(part)
    finished = dechunker is not None and dechunker.finished
    return Measured(
        head,
        {n: Digest(n, s.digest()) for n, s in zip(algorithms, stored, strict=True)},
        {n: Digest(n, s.digest()) for n, s in zip(algorithms, dechunked, strict=True)}
        if finished
        else {},
        finished,
    )


def with_block(record: Record, header: Header, body: Body) -> Record:
    """A record at the same place with another header and block, and without findings.

    A block that is not in memory is read once, for its HTTP head.
    """
    other = Record(
        record.ordinal,
        record.offset,
        record.length,
        header,
        body,
        body.size,
        header.version,
        header.record_type,
    )
    other.inner_offset = record.inner_offset
    if not isinstance(body, MemoryBody):
        pieces = (bytes(piece) for piece in body.pieces(0))
        other._measured = measure(pieces, http=other.holds_http, algorithms=())
    return other


def _split_head(pieces: Iterator[bytes]) -> tuple[bytes, bytes]:
    """The head, and the payload bytes read with it."""
    data = b""
    for piece in pieces:
        data += piece
        end = head_end(data)
        if end >= 0:
            return data[:end], data[end:]
        if len(data) > HEAD_LIMIT_BYTES:
            break
    return b"", data

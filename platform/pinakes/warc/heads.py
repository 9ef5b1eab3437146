"""The head of a record at a known place, without reading its body.

A rewriter needs header and HTTP head, and a sign that the body is still the one that
was compared.  A gzip member states it: its trailer holds length and CRC-32 of its
whole content, and a CRC can be split (`crc(A+B) = shift(crc(A), |B|) ^
crc(B)`), so the checksum of the part after the heads follows without inflating it.
That is a claim, to be proven before anything relies on it: docs/adr/0005-proof.md.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from deflate import crc32
from isal import igzip_lib, isal_zlib
from isal.isal_zlib import crc32_combine

from pinakes.errors import MalformedRecord
from pinakes.warc.compression.gzip_members import GZIP_MAGIC, InflateError
from pinakes.warc.http.message import head_end

from .field_names import CONTENT_LENGTH_KEY
from .header import Header
from .reader import read_record
from .record import Record
from .shapes import ShapeBook, ShapedHeader
from .source import Source

# (bytes fed, bytes wanted): the first is enough for most heads; some have many cookies.
_WINDOWS = ((3 << 8, 3 << 10), (1 << 11, 3 << 10), (1 << 14, 1 << 16))
_FIRST_BYTES = _WINDOWS[0][0]
# A member that ends within this size is always inflated to its end.
_SMALL_BYTES = _WINDOWS[1][0]
_Inflater, _GZIP = igzip_lib.IgzipDecompressor, igzip_lib.DECOMP_GZIP
# CRC-32 and size of the content (RFC 1952 §2.3.1).
_TRAILER = Struct("<II")
_GZIP_BYTES_LEAST = 18
_RECORD_END = b"\r\n\r\n"
_BODY_TYPES = frozenset({"response", "resource"})
_HARMLESS = frozenset({"member"})


class RecordHead(NamedTuple):
    """A record's header and HTTP head, and a checksum of what follows them.

    `length` is the size of the record (or of the member that it shares) in the file.
    `rest_crc32` covers the stored body and the two line ends that close the record,
    `crc32` the whole record.  `alone` is false where other records share the member.
    """

    header: Header
    http_head: bytes
    length: int
    body_size: int
    rest_crc32: int
    crc32: int
    alone: bool

    @property
    def size(self) -> int:
        """Bytes of the whole record, including the two line ends that close it."""
        heads = len(self.header.raw) + len(self.http_head)
        return heads + self.body_size + len(_RECORD_END)


def read_head(
    source: Source,
    offset: int,
    length: int,
    *,
    inner_offset: int = 0,
    shapes: ShapeBook | None = None,
) -> RecordHead:
    """Read the heads of the response or resource at that place.

    `length` is that of a manifest, and is verified: the result has the true length, or one
    that agrees with checksum and size in the last gzip trailer within it.  `shapes` are
    those of headers read before: headers of one writer are then read three times as fast.

    Raises:
        MalformedRecord: if no intact record of these types is there (any more).
    """
    quick = _read_quickly(source, offset, length, shapes) if not inner_offset else None
    return quick or _read_wholly(source, offset, inner_offset)


def _read_quickly(
    source: Source, offset: int, length: int, shapes: ShapeBook | None
) -> RecordHead | None:
    if length < _GZIP_BYTES_LEAST or offset + length > source.size:
        return None
    start = bytes(source.view(offset, min(length, _SMALL_BYTES)))
    if not start.startswith(GZIP_MAGIC):
        return None
    # If another member may begin inside, `length` may span both.
    suspect = length <= _SMALL_BYTES or GZIP_MAGIC in start[_FIRST_BYTES:]
    for fed, wanted in _WINDOWS[1:] if suspect else _WINDOWS:
        piece = start[:fed] if fed <= _SMALL_BYTES else source.view(offset, min(length, fed))
        inflater = _Inflater(_GZIP)
        try:
            data = inflater.decompress(piece, wanted)
        except InflateError:
            return None
        header = _header(data, shapes)
        body = head_end(data, len(header.raw)) if header is not None else -1
        if body >= 0:
            break
    else:
        return None
    assert header is not None
    if inflater.eof and len(piece) - len(inflater.unused_data) != length:
        return None
    content_length = _content_length(header)
    if content_length is None or not header.declares_http:
        return None
    block = len(header.raw)
    end = block + content_length
    size = end + len(_RECORD_END)
    crc, declared_size = _TRAILER.unpack(source.view(offset + length - 8, 8))
    if body > end or size & 0xFFFFFFFF != declared_size:
        return None
    # libdeflate's crc32, since isal leaves vector registers in a state that slows what follows
    # (bench/RESULTS.md), and this one clears them.
    rest = crc ^ crc32_combine(crc32(data[:body]), 0, size - body)
    return RecordHead(header, data[block:body], length, end - body, rest, crc, True)


def head_in(data: bytes, length: int, *, shapes: ShapeBook | None = None) -> RecordHead | None:
    """The head of the HTTP record that `data` is, line ends that close it included.

    None where it is another record, or more than one.  `length` is that of its member.
    """
    header = _header(data, shapes)
    body = head_end(data, len(header.raw)) if header is not None else -1
    if header is None or body < 0 or not header.declares_http:
        return None
    size = len(header.raw) + (_content_length(header) or 0) + len(_RECORD_END)
    if size != len(data) or body > size - len(_RECORD_END) or not data.endswith(_RECORD_END):
        return None
    rest = crc32(memoryview(data)[body:])
    whole = crc32_combine(crc32(data[:body]), rest, size - body)
    body_size = size - len(_RECORD_END) - body
    return RecordHead(header, data[len(header.raw) : body], length, body_size, rest, whole, True)


def _content_length(header: Header) -> int | None:
    if isinstance(header, ShapedHeader):
        return header.content_length
    digits = header.field(CONTENT_LENGTH_KEY) or ""
    sound = digits.isascii() and digits.isdigit() and len(digits) < 19
    return int(digits) if sound else None


def _header(data: bytes, shapes: ShapeBook | None) -> Header | None:
    """The header that `data` begins with, if it is complete."""
    header = shapes.read(data) if shapes is not None else None
    if header is not None:
        return header
    end = head_end(data)
    if end < 0:
        return None
    if shapes is not None:
        shapes.learn(data[:end])
    return Header(data[:end])


def _read_wholly(source: Source, offset: int, inner_offset: int) -> RecordHead:
    record = read_record(source, offset, inner_offset=inner_offset, digests=())
    place = (offset, inner_offset)
    if not isinstance(record, Record) or (record.offset, record.inner_offset) != place:
        raise MalformedRecord(
            "no record begins here: it is damaged, or the file was changed since it was listed",
            file=source.name,
            offset=offset,
        )
    try:
        return head_of(record)
    except MalformedRecord as problem:
        problem.file, problem.offset = source.name, offset
        raise


def head_of(record: Record) -> RecordHead:
    """The heads of a record that was read; inflates its body.

    Raises:
        MalformedRecord: if it is damaged, or neither a response nor a resource.
    """
    if record.type not in _BODY_TYPES or (record.type == "response" and record.http is None):
        raise MalformedRecord("the record is neither an HTTP response nor a resource")
    codes = {finding.code for finding in record.findings}
    if codes - _HARMLESS:
        raise MalformedRecord(f"the record is damaged: {', '.join(sorted(codes))}")
    head = record.http.raw if record.http is not None else b""
    crc = 0
    for piece in record.payload():
        crc = isal_zlib.crc32(piece, crc)
    rest = isal_zlib.crc32(_RECORD_END, crc)
    heads = isal_zlib.crc32(head, isal_zlib.crc32(record.header.raw))
    return RecordHead(
        record.header,
        head,
        record.length,
        record.payload_size,
        rest,
        isal_zlib.crc32_combine(heads, rest, record.payload_size + len(_RECORD_END)),
        "member" not in codes,
    )

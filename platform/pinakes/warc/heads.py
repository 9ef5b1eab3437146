"""The head of a record at a known place, without reading its body.

A rewriter needs header and HTTP head, and proof that the body is still the one that
was compared.  A gzip member carries that proof: its trailer has length and CRC-32 of
everything in it, and a CRC can be taken apart (`crc(A+B) = shift(crc(A), |B|) ^
crc(B)`), so the checksum of the part behind the heads follows without inflating it.
What that proves, and what it does not: docs/adr/0005-refs-proves-by-checksum.md.
"""

from __future__ import annotations

from typing import NamedTuple

from isal import igzip_lib, isal_zlib

from pinakes.errors import MalformedRecord

from .header import Header
from .http import head_end
from .members import GZIP_MAGIC, InflateError
from .reader import read_record
from .record import Record
from .shapes import ShapeBook
from .source import Source

# (bytes fed, bytes wanted): most heads come out of the first, some have many cookies.
_WINDOWS = ((3 << 8, 3 << 10), (1 << 11, 3 << 10), (1 << 14, 1 << 16))
_FIRST_BYTES = _WINDOWS[0][0]
# A member that ends in here is always inflated to its end.
_SMALL_BYTES = _WINDOWS[1][0]
_GZIP_BYTES_LEAST = 18
_RECORD_END = b"\r\n\r\n"
_BODY_TYPES = frozenset({"response", "resource"})
_HARMLESS = frozenset({"member"})


class RecordHead(NamedTuple):
    """A record's header and HTTP head, and a checksum of what follows them.

    `length` is what the record (or the member that it shares) takes in the file.
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


def read_head(
    source: Source,
    offset: int,
    length: int,
    *,
    inner_offset: int = 0,
    shapes: ShapeBook | None = None,
) -> RecordHead:
    """Read the heads of the response or resource at that place.

    `length` is what a manifest says, and is not believed: the answer has the true one,
    or one that checksum and size of the last gzip trailer in it agree with.  `shapes` are
    those of the headers read before: headers of one writer are read three times as fast.

    Raises:
        MalformedRecord: where no whole record of these types lies there (any more).
    """
    quick = _read_quickly(source, offset, length, shapes) if not inner_offset else None
    return quick or _read_wholly(source, offset, inner_offset)


def _read_quickly(
    source: Source, offset: int, length: int, shapes: ShapeBook | None
) -> RecordHead | None:
    if length < _GZIP_BYTES_LEAST or offset + length > source.size:
        return None
    start = bytes(source.view(offset, min(length, _SMALL_BYTES)))
    if start[:3] != GZIP_MAGIC:
        return None
    # Where another member may begin, `length` may span both.
    suspect = length <= _SMALL_BYTES or start.find(GZIP_MAGIC, _FIRST_BYTES) >= 0
    for fed, wanted in _WINDOWS[1:] if suspect else _WINDOWS:
        piece = start[:fed] if fed <= _SMALL_BYTES else source.view(offset, min(length, fed))
        inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        try:
            data = inflater.decompress(piece, wanted)
        except InflateError:
            return None
        block = head_end(data)
        body = head_end(data, block) if block > 0 else -1
        if body >= 0:
            break
    else:
        return None
    if inflater.eof and len(piece) - len(inflater.unused_data) != length:
        return None
    return _take_apart(source, data, (block, body), (offset, length), shapes)


def _take_apart(
    source: Source,
    data: bytes,
    heads: tuple[int, int],
    place: tuple[int, int],
    shapes: ShapeBook | None,
) -> RecordHead | None:
    start, body = heads
    offset, length = place
    header = _header(data[:start], shapes)
    digits = header.field("content-length") or ""
    if not (header.declares_http and digits.isascii() and digits.isdigit() and len(digits) < 19):
        return None
    end = start + int(digits)
    size = end + len(_RECORD_END)
    trailer = bytes(source.view(offset + length - 8, 8))
    if body > end or size & 0xFFFFFFFF != int.from_bytes(trailer[4:], "little"):
        return None
    crc = int.from_bytes(trailer[:4], "little")
    rest = crc ^ isal_zlib.crc32_combine(isal_zlib.crc32(data[:body]), 0, size - body)
    return RecordHead(header, data[start:body], length, end - body, rest, crc, True)


def _header(raw: bytes, shapes: ShapeBook | None) -> Header:
    if shapes is None:
        return Header(raw)
    header = shapes.read(raw)
    if header is None:
        shapes.learn(raw)
        return Header(raw)
    return header


def _read_wholly(source: Source, offset: int, inner_offset: int) -> RecordHead:
    record = read_record(source, offset, inner_offset=inner_offset, digests=())
    place = (offset, inner_offset)
    if not isinstance(record, Record) or (record.offset, record.inner_offset) != place:
        raise MalformedRecord(
            "no record begins here: does the manifest belong to this file?",
            file=source.name,
            offset=offset,
        )
    try:
        return head_of(record)
    except MalformedRecord as problem:
        problem.file, problem.offset = source.name, offset
        raise


def head_of(record: Record) -> RecordHead:
    """The heads of a record that is at hand; inflates its body.

    Raises:
        MalformedRecord: where it is damaged, or neither response nor resource.
    """
    if record.type not in _BODY_TYPES or (record.type == "response" and record.http is None):
        raise MalformedRecord("this is neither a response over HTTP nor a resource")
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

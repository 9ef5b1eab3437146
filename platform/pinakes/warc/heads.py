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
from .source import Source

# (bytes fed, bytes wanted): most heads come out of the first, some have many cookies.
_WINDOWS = ((1 << 11, 3 << 10), (1 << 14, 1 << 16))
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


def read_head(source: Source, offset: int, length: int, *, inner_offset: int = 0) -> RecordHead:
    """Read the heads of the response or resource at that place.

    `length` is what a manifest says, and is not believed: the answer has the true one,
    or one that checksum and size of the last gzip trailer in it agree with.

    Raises:
        MalformedRecord: where no whole record of these types lies there (any more).
    """
    quick = _read_quickly(source, offset, length) if not inner_offset else None
    return quick or _read_wholly(source, offset, inner_offset)


def _read_quickly(source: Source, offset: int, length: int) -> RecordHead | None:
    if length < _GZIP_BYTES_LEAST or offset + length > source.size:
        return None
    for fed, wanted in _WINDOWS:
        view = source.view(offset, min(length, fed))
        if view[:3] != GZIP_MAGIC:
            return None
        inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        try:
            data = inflater.decompress(view, wanted)
        except InflateError:
            return None
        start = head_end(data)
        body = head_end(data, start) if start > 0 else -1
        if body >= 0:
            break
    else:
        return None
    if inflater.eof and len(view) - len(inflater.unused_data) != length:
        return None
    return _take_apart(source, data, (start, body), offset, length)


def _take_apart(
    source: Source, data: bytes, heads: tuple[int, int], offset: int, length: int
) -> RecordHead | None:
    start, body = heads
    header = Header(data[:start])
    digits = header.field("content-length") or ""
    media_type = header.field("content-type") or ""
    http = media_type[:16].lower() == "application/http"
    if not (http and digits.isascii() and digits.isdigit() and len(digits) < 19):
        return None
    end = start + int(digits)
    size = end + len(_RECORD_END)
    trailer = bytes(source.view(offset + length - 8, 8))
    if body > end or size & 0xFFFFFFFF != int.from_bytes(trailer[4:], "little"):
        return None
    crc = int.from_bytes(trailer[:4], "little")
    rest = crc ^ isal_zlib.crc32_combine(isal_zlib.crc32(data[:body]), 0, size - body)
    return RecordHead(header, data[start:body], length, end - body, rest, crc, True)


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

"""The head of a record at a known place, without reading its body.

A rewriter needs header and HTTP head, and proof that the body is still the one that
was compared.  A gzip member carries that proof: its trailer has length and CRC-32 of
everything in it, and a CRC can be taken apart (`crc(A+B) = shift(crc(A), |B|) ^
crc(B)`), so the checksum of the part behind the heads follows without inflating it.
"""

from __future__ import annotations

from typing import NamedTuple

from isal import igzip_lib, isal_zlib

from pinakes.errors import MalformedRecord

from .header import Header
from .http import head_end
from .members import GZIP_MAGIC, InflateError
from .reader import read_record
from .record import DamagedStretch, Record
from .source import Source

_HEAD_IN_BYTES = 1 << 12
_HEAD_OUT_BYTES = 1 << 14
_RECORD_END = b"\r\n\r\n"


class RecordHead(NamedTuple):
    """A record's header and HTTP head, and a checksum of what follows them.

    `rest_crc32` covers the stored body and the two line ends that close the record,
    `crc32` the whole record.  `alone` is false where other records share the member.
    """

    header: Header
    http_head: bytes
    body_size: int
    rest_crc32: int
    crc32: int
    alone: bool


def read_head(source: Source, offset: int, length: int, *, inner_offset: int = 0) -> RecordHead:
    """Read the heads of the HTTP record in `[offset, offset + length)`.

    Raises:
        MalformedRecord: where no whole HTTP record lies there (any more).
    """
    quick = _read_quickly(source, offset, length) if not inner_offset else None
    return quick or _read_wholly(source, offset, inner_offset)


def _read_quickly(source: Source, offset: int, length: int) -> RecordHead | None:
    view = source.view(offset, min(length, _HEAD_IN_BYTES))
    if bytes(view[:3]) != GZIP_MAGIC or offset + length > source.size:
        return None
    try:
        data = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP).decompress(view, _HEAD_OUT_BYTES)
    except InflateError:
        return None
    start = head_end(data)
    body = head_end(data, start) if start > 0 else -1
    if body < 0:
        return None
    header = Header(data[:start])
    digits = header.get("content-length") or ""
    media_type = header.get("content-type") or ""
    if not digits.isdigit() or not media_type.lower().startswith("application/http"):
        return None
    trailer = bytes(source.view(offset + length - 8, 8))
    size = start + int(digits) + len(_RECORD_END)
    if size & 0xFFFFFFFF != int.from_bytes(trailer[4:], "little"):
        return None
    rest = size - body
    crc = int.from_bytes(trailer[:4], "little")
    shifted = isal_zlib.crc32_combine(isal_zlib.crc32(data[:body]), 0, rest)
    return RecordHead(header, data[start:body], rest - len(_RECORD_END), crc ^ shifted, crc, True)


def _read_wholly(source: Source, offset: int, inner_offset: int) -> RecordHead:
    record = read_record(source, offset, inner_offset=inner_offset)
    if not isinstance(record, Record) or (record.offset, record.inner_offset) != (
        offset,
        inner_offset,
    ):
        raise MalformedRecord(
            "no record begins here: does the manifest belong to this file?",
            file=source.name,
            offset=offset,
        )
    return head_of(record)


def head_of(record: Record | DamagedStretch | None) -> RecordHead:
    """The heads of a record that is at hand."""
    if not isinstance(record, Record) or record.http is None:
        raise MalformedRecord("this is no HTTP record", offset=getattr(record, "offset", None))
    codes = {finding.code for finding in record.findings}
    if codes - {"member"}:
        raise MalformedRecord(f"the record is damaged: {', '.join(sorted(codes))}")
    crc = 0
    for piece in record.payload():
        crc = isal_zlib.crc32(piece, crc)
    rest = isal_zlib.crc32(_RECORD_END, crc)
    heads = isal_zlib.crc32(record.http.raw, isal_zlib.crc32(record.header.raw))
    return RecordHead(
        record.header,
        record.http.raw,
        record.payload_size,
        rest,
        isal_zlib.crc32_combine(heads, rest, record.payload_size + len(_RECORD_END)),
        "member" not in codes,
    )

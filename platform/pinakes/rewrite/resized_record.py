"""A record with a block of another size, and whether that is the one that it declares."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.conformance.payload import Basis, basis_of
from pinakes.warc.digest import parse_digest
from pinakes.warc.field_names import (
    CONTENT_LENGTH_KEY,
    WARC_BLOCK_DIGEST_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
)
from pinakes.warc.header import Header
from pinakes.warc.record import MemoryBody, Record, with_block
from pinakes.warc.source import IN_MEMORY_BYTES

from .file_parts import Bytes, Part, stretch_of


class _Body:
    """The first `size` bytes of a region that is too large for memory."""

    def __init__(self, region: Part, size: int) -> None:
        self._region = region
        self.size = size

    def pieces(self, start: int, /) -> Iterator[Bytes]:
        return stretch_of(self._region, start, self.size)


def usable_length(header: Header) -> int | None:
    """Content-Length, if it is a number that a block can have."""
    text = (header.field(CONTENT_LENGTH_KEY) or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def with_size(record: Record, region: Part | None, size: int) -> Record:
    """The record with the first `size` bytes of a region as its block, or else with its own."""
    header = record.header
    if region is None:
        return with_block(record, header, record.body)
    if size > IN_MEMORY_BYTES:
        return with_block(record, header, _Body(region, size))
    return with_block(record, header, MemoryBody(b"".join(stretch_of(region, 0, size)), 0, size))


def fits(record: Record) -> bool | None:
    """Whether a block is what its record declares: by digest, else by the length in HTTP."""
    declared = parse_digest(record.header.field(WARC_BLOCK_DIGEST_KEY) or "")
    if declared is not None:
        return record.block_digest(declared.algorithm) == declared
    declared = parse_digest(record.header.field(WARC_PAYLOAD_DIGEST_KEY) or "")
    if declared is not None and record.type != "revisit":
        return basis_of(record, declared) not in (Basis.NONE, Basis.UNKNOWN)
    http = record.http
    if http is None or record.type == "revisit":
        return None
    if http.says_chunked:
        return record.chunks_finished or None
    return None if http.content_length is None else http.content_length == record.payload_size

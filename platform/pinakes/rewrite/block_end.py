r"""Where the block of a record ends that its writer did not measure, or close, rightly.

The record with a block of that size is made here, too.

    header | block | line ends     the region: all bytes after the header, up to the next record,
             -------------------   or to the end of the record's members

A length is believed that leaves nothing but line ends; else the two CRLF that have to close
a record say where its block ends.  Digests that the record declares may say otherwise, and a
file that may have been cut off needs one that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from pinakes.warc.write import RECORD_END

from .file_parts import Bytes, FilePart, stretch_of

TAIL_BYTES = 4096
Fits = Callable[[int], "bool | None"]
"""Whether what the record declares of its block is right for a block of so many bytes; None if it
declares nothing that shows it."""


def block_size(
    size: int, tail: bytes, promised: int | None, fits: Fits, *, lf_only: bool, maybe_cut: bool
) -> int | None:
    """The bytes of the block in a region of `size`; None if the bytes do not say it.

    `tail` is the end of the region, at most `TAIL_BYTES`; `promised` is a usable Content-Length.
    With `lf_only`, which the header's lines are, two LF close a record, too.
    """
    line_ends = len(tail) - len(tail.rstrip(b"\r\n"))
    closings = (RECORD_END, b"\n\n") if lf_only else (RECORD_END,)
    closing = next((one for one in closings if tail.endswith(one)), None)
    closed = None if closing is None else size - len(closing)
    if promised is not None and size - line_ends <= promised <= size:
        if closed is None or closed == promised:
            return promised
        return closed if fits(closed) and not fits(promised) else promised
    if closed is None or (promised is not None and promised < size and fits(promised)):
        return None
    verdict = fits(closed)
    return closed if verdict or (verdict is None and not maybe_cut) else None


def last_bytes(pieces: Iterator[bytes | memoryview], count: int) -> tuple[int, bytes]:
    """How many bytes there are, and the last `count` of them."""
    size, tail = 0, b""
    for piece in pieces:
        size += len(piece)
        tail = (tail + bytes(piece[-count:]))[-count:]
    return size, tail


class _Body:
    """The first `size` bytes of a region that is too large for memory."""

    def __init__(self, region: FilePart, size: int) -> None:
        self._region = region
        self.size = size

    def pieces(self, start: int, /) -> Iterator[Bytes]:
        return stretch_of(self._region, start, self.size)


def usable_length(header: Header) -> int | None:
    """Content-Length, if it is a number that a block can have."""
    text = (header.field(CONTENT_LENGTH_KEY) or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def with_size(record: Record, region: FilePart | None, size: int) -> Record:
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

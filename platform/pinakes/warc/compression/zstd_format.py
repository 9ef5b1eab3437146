"""The form of Zstandard frames (RFC 8878 §3.1), as far as it shows without decompressing.

    frame      28 B5 2F FD | descriptor … content size | block | block | … | checksum, 4 bytes
    block      3 bytes: last 1 bit, type 2 bits, size 21 bits | content
    skippable  5x 2A 4D 18 | size, 4 bytes | anything

Blocks are found by their headers, so that a frame's end is known before it is decompressed, and
where it cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from zstandard import (
    CONTENTSIZE_UNKNOWN,
    ZstdDecompressor,
    ZstdError,
    frame_header_size,
    get_frame_parameters,
)

from pinakes.warc.source import Source

from .port import Damage

FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
FRAME_START = rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"
SKIPPABLE_HEAD_BYTES = 8
LIMIT_BYTES = 1 << 23
"""Of windows and dictionaries: what a reader has to take (warc-zstd 1.0 §5)."""
BLOCK_LIMIT_BYTES = 1 << 17
_HEADER_LIMIT_BYTES = 18
_CHECKSUM_BYTES = 4
_RLE, _RESERVED = 1, 3
_ENDED = "the file ends inside a Zstandard frame"
# An empty raw block, the last of its frame.
_NO_MORE = b"\1\0\0"
_START = re.compile(FRAME_START)


class FrameHeader(NamedTuple):
    """What a frame says of itself; `body` is the offset of its first block.

    `content_size` is None, and `dictionary_id` 0, where it says nothing of them.
    """

    offset: int
    body: int
    window_bytes: int
    content_size: int | None
    dictionary_id: int
    has_checksum: bool


class Block(NamedTuple):
    """A block's place, header included; `most_bytes` is the limit of its content."""

    offset: int
    end: int
    is_last: bool
    most_bytes: int


def is_start(data: bytes) -> bool:
    """Whether a frame, skippable or not, begins like this."""
    return _START.match(data) is not None


def frame_header(source: Source, offset: int) -> FrameHeader:
    """Read the header of the frame at `offset`.

    Raises:
        Damage: it is not one, or the file ends in it.
    """
    view = source.view(offset, _HEADER_LIMIT_BYTES)
    try:
        said = get_frame_parameters(view)
        body = offset + frame_header_size(view)
    except ZstdError as error:
        if len(view) < _HEADER_LIMIT_BYTES:
            raise Damage("truncated", _ENDED, source.size) from error
        raise Damage("damaged", f"a Zstandard frame header is damaged ({error})", offset) from error
    size = None if said.content_size == CONTENTSIZE_UNKNOWN else said.content_size
    return FrameHeader(offset, body, said.window_size, size, said.dict_id, said.has_checksum)


def iter_blocks(source: Source, offset: int) -> Iterator[Block]:
    """The blocks of a frame from the one at `offset` on; lazy, nothing is decompressed.

    Raises:
        Damage: what is there is not a block, or the file ends in it.
    """
    while True:
        head = bytes(source.view(offset, 3))
        if len(head) < 3:
            raise Damage("truncated", _ENDED, source.size)
        bits = int.from_bytes(head, "little")
        kind, size = bits >> 1 & 3, bits >> 3
        if kind == _RESERVED or size > BLOCK_LIMIT_BYTES:
            raise Damage("damaged", "a Zstandard block header is damaged", offset)
        end = offset + 3 + (1 if kind == _RLE else size)
        if end > source.size:
            raise Damage("truncated", _ENDED, source.size)
        yield Block(offset, end, bool(bits & 1), BLOCK_LIMIT_BYTES if kind == 2 else size)
        if bits & 1:
            return
        offset = end


def end_by_form(source: Source, header: FrameHeader, first_block: int) -> int | None:
    """Where a frame ends by its blocks from this one on; None if that is not certain.

    Certain is what another frame follows, or nothing.
    """
    end = first_block
    try:
        for block in iter_blocks(source, first_block):
            end = block.end
    except Damage:
        return None
    return _certain(source, end + (_CHECKSUM_BYTES if header.has_checksum else 0))


def end_of_skippable(source: Source, offset: int) -> int | None:
    """The same of a skippable frame (RFC 8878 §3.1.2), by its size."""
    head = bytes(source.view(offset, SKIPPABLE_HEAD_BYTES))
    if len(head) < SKIPPABLE_HEAD_BYTES or not is_start(head) or head.startswith(FRAME_MAGIC):
        return None
    return _certain(source, offset + SKIPPABLE_HEAD_BYTES + int.from_bytes(head[4:], "little"))


def _certain(source: Source, end: int) -> int | None:
    follows = bytes(source.view(end, len(FRAME_MAGIC))) if end < source.size else b""
    return end if is_start(follows) or end == source.size else None


def why_refused(header: FrameHeader) -> str:
    """Why a frame is not read that may need more memory than a reader has to have; else nothing."""
    if header.window_bytes <= LIMIT_BYTES:
        return ""
    return (
        f"a Zstandard window of {header.window_bytes} bytes: more than {LIMIT_BYTES} are not "
        "read (warc-zstd 1.0 §5)"
    )


def inflate_blocks(
    source: Source, header: FrameHeader, decompressor: ZstdDecompressor, ends: dict[int, int]
) -> Iterator[bytes]:
    """The content of a frame, a piece for each block, which may be empty.

    Each piece has at most `BLOCK_LIMIT_BYTES`.  The end of the frame goes to `ends`.

    Raises:
        Damage: where reading cannot continue, after all readable bytes.
    """
    inflater = decompressor.decompressobj()
    delivered, at, end = 0, header.body, header.body
    try:
        inflater.decompress(source.view(header.offset, header.body - header.offset))
        for block in iter_blocks(source, header.body):
            at, end = block.offset, block.end
            fed = bytes(source.view(at, end - at))
            if block.is_last:
                # Its end is fed separately: an error there would take the content of the block.
                fed = bytes([fed[0] & ~1]) + fed[1:]
            piece = inflater.decompress(fed)
            delivered += len(piece)
            yield piece
    except Damage as damage:
        if damage.code == "truncated":
            with suppress(ZstdError):
                yield inflater.decompress(bytes(source.view(end, BLOCK_LIMIT_BYTES)))
        raise
    except ZstdError as error:
        raise _damage(f"compressed data is damaged ({error})", source, header, at) from error
    checksum = bytes(source.view(end, _CHECKSUM_BYTES)) if header.has_checksum else b""
    if header.has_checksum and len(checksum) < _CHECKSUM_BYTES:
        raise Damage("truncated", "the file ends inside a Zstandard checksum", end, source.size)
    why = ""
    try:
        inflater.decompress(_NO_MORE + checksum)
    except ZstdError:
        why = "the Zstandard checksum does not fit the content"
    # The library compares sizes at the last block, which it was given as one that others follow.
    if header.content_size not in (None, delivered):
        why = f"{delivered} bytes in a Zstandard frame that declares {header.content_size}"
    if why:
        proven = end_by_form(source, header, at)
        raise Damage("crc", why, end, proven, is_end_proven=proven is not None)
    ends[header.offset] = end + len(checksum)


def _damage(why: str, source: Source, header: FrameHeader, block: int) -> Damage:
    """Damage at a block; the frame's end is known if the blocks after it are where they should."""
    end = end_by_form(source, header, block)
    return Damage("damaged", why, block, end, is_end_proven=end is not None)

"""Whether two stretches of archive files hold the same, as written or inflated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from isal import isal_zlib

from pinakes.warc.compression.members import compression_at
from pinakes.warc.reader import Item
from pinakes.warc.record import MemoryBody, Record
from pinakes.warc.source import Source
from pinakes.warc.stream import MemberStream, PlainStream

_PIECE_BYTES = 1 << 20
_CLOSING_BYTES = 4


class Stretch(NamedTuple):
    """An item of an archive file, and where the next one begins.

    Where that one shares its member, `end` is the member's.  `window` is of the item's
    file, and nobody else's.
    """

    window: Source
    item: Item
    end: int


def equal_written(old: Stretch, new: Stretch) -> bool:
    """Whether the bytes of the files are equal, up to the next item; compressed as they are."""
    size = old.end - old.item.offset
    if size != new.end - new.item.offset:
        return False
    pairs = zip(
        old.window.pieces(old.item.offset, old.end, _PIECE_BYTES),
        new.window.pieces(new.item.offset, new.end, _PIECE_BYTES),
        strict=True,
    )
    # Of two views Python compares byte for byte in a loop, of two bytes with memcmp.
    return all(bytes(left) == bytes(right) for left, right in pairs)


def equal_blocks(old: Record, new: Record) -> bool:
    """Whether two blocks are equal, byte for byte."""
    if old.body.size != new.body.size:
        return False
    if isinstance(old.body, MemoryBody) and isinstance(new.body, MemoryBody):
        return bytes(next(old.chunks(), b"")) == bytes(next(new.chunks(), b""))
    return _sha256(old.chunks()) == _sha256(new.chunks())


def fills_member(stretch: Stretch) -> bool:
    """Whether header, block and two line ends are all that the record's member holds.

    True of a record that shares its member: others are in it, too.  False where only inflating
    tells.
    """
    record = stretch.item
    if not isinstance(record, Record) or not _is_compressed(stretch):
        return True
    if any(finding.code == "member" for finding in record.findings):
        return True
    compression = compression_at(stretch.window, record.offset)
    if compression is None or not compression.ENDS_WITH_CRC32:
        return False
    size = len(record.header.raw) + record.body.size + _CLOSING_BYTES
    trailer = stretch.window.view(record.offset + record.length - 4, 4)
    return int.from_bytes(trailer, "little") == size & 0xFFFFFFFF


def holds_only(source: Source, offset: int, length: int, *, crc32: int, size: int) -> bool:
    """Whether compressed members at that place hold only this many bytes, of this checksum.

    A revisit gives back its record and two line ends.  Further line ends are allowed behind a
    record, so no finding tells of them.
    """
    compression = compression_at(source, offset)
    if compression is None or compression.passes_over_bytes(source, offset, offset + length):
        return False
    trailer = bytes(source.view(offset + length - 8, 8))
    if compression.ENDS_WITH_CRC32 and trailer == crc32.to_bytes(4, "little") + (
        size & 0xFFFFFFFF
    ).to_bytes(4, "little"):
        return True
    # A record over several members, whose last one says nothing of the others; or in frames.
    crc = found = 0
    for piece in _inflated(MemberStream(source, offset), offset + length):
        crc, found = isal_zlib.crc32(piece, crc), found + len(piece)
    return (crc, found) == (crc32, size)


def equal_contents(old: Stretch, new: Stretch) -> bool:
    """Whether the stretches inflate to the same bytes; slower, for records with findings."""
    return _sha256(_content(old)) == _sha256(_content(new))


def equal_tails(old: Stretch, new: Stretch) -> bool:
    """Whether the same lies between the record's end and the next item.

    In an uncompressed file that is the two closing line ends, in a compressed one
    nothing, or members without content.
    """
    return _tail(old) == _tail(new)


def _tail(stretch: Stretch) -> bytes:
    item = stretch.item
    if not isinstance(item, Record):
        return b""
    start = item.offset + item.length
    tail = _digested(stretch.window, start, stretch.end)
    if _is_compressed(stretch) and not tail:
        # As if it were uncompressed: the line ends are in the member.
        return b"\r\n\r\n"
    return tail


def _digested(window: Source, start: int, end: int) -> bytes:
    if end - start <= _PIECE_BYTES:
        return bytes(window.view(start, end - start)) if start < end else b""
    state = hashlib.sha256()
    for piece in window.pieces(start, end):
        state.update(piece)
    return state.digest()


def _is_compressed(stretch: Stretch) -> bool:
    return compression_at(stretch.window, stretch.item.offset) is not None


def _content(stretch: Stretch) -> Iterator[bytes]:
    start = stretch.item.offset
    if not _is_compressed(stretch):
        stream = PlainStream(stretch.window, start)
        while stream.position < stretch.end:
            yield stream.take(stretch.end - stream.position)
        return
    members = MemberStream(stretch.window, start)
    yield from _inflated(members, stretch.end)
    if members.damage is not None:
        yield repr((members.damage.code, stretch.end - members.damage.offset)).encode()


def _inflated(members: MemberStream, end: int) -> Iterator[bytes]:
    """What the members that begin before `end` hold."""
    while members.peek(1) and members.place()[0] < end:
        yield members.take(_PIECE_BYTES)


def _sha256(pieces: Iterator[bytes | memoryview] | Iterator[bytes]) -> bytes:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return state.digest()

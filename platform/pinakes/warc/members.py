"""Compressed members of an archive file: gzip (RFC 1952), and bzip2 as seen in tests.

Header and trailer of a gzip member are parsed here, because an inflater that checks the
trailer itself discards the last bytes if the checksum is wrong.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Iterator
from struct import Struct
from typing import cast

from deflate import DeflateError, gzip_decompress
from isal import isal_zlib

from .source import Source

GZIP_MAGIC = b"\x1f\x8b\x08"
MEMBER_START = re.compile(rb"\x1f\x8b\x08|BZh[1-9](?:1AY&SY|\x17rE8P\x90|\Z)")
MEMBER_START_BYTES = 10
# A member that begins with an extra field "sl": its length, and its size when inflated.
# GNU Wget and others write it; it may be wrong.
HINT = Struct("<4s6x6sII")
HINT_MAGIC = b"\x1f\x8b\x08\x04"
HINT_EXTRA = b"\x0c\0sl\x08\0"
_HINTED_SIZE = slice(HINT.size - 4, HINT.size)
# isal's stubs declare its exception class as an instance.
InflateError = cast("type[Exception]", isal_zlib.IsalError)
_IN_BYTES = 1 << 14
_OUT_BYTES = 1 << 20
_FIRST_IN_BYTES = 1 << 12
_CAREFUL_IN_BYTES = 64
# RFC 8878 §3.1.1, §3.1.2: a dictionary of WARC-Zstandard stands in a skippable frame (0x184D2A5D).
_ZSTANDARD = "a Zstandard {}, which is not read here: decompress it first (zstd -d)"
_UNSUPPORTED = {
    b"\x04\x22\x4d\x18": "an LZ4 frame, which is not read here: decompress it first (lz4 -d)",
    b"\x28\xb5\x2f\xfd": _ZSTANDARD.format("frame"),
    **{
        bytes([n]) + b"\x2a\x4d\x18": _ZSTANDARD.format("skippable frame")
        for n in range(0x50, 0x60)
    },
    b"\x5d\x2a\x4d\x18": _ZSTANDARD.format("dictionary"),
    b"PK\x03\x04": "a ZIP file: only one named .wacz is read, as a package of archive files",
    b"\xfd7zX": "an XZ file, which is not read here: decompress it first (xz -d)",
}


def why_unread(start: bytes) -> str | None:
    """Why a file that begins like this is not read, if it is a container of another kind."""
    container = _UNSUPPORTED.get(start[:4])
    return f"this is {container}" if container else None


def compression_of(source: Source, offset: int = 0) -> str | None:
    """`gzip` or `bzip2`, by the bytes at `offset`; None if no member begins there."""
    start = bytes(source.view(offset, MEMBER_START_BYTES))
    if MEMBER_START.match(start) is None:
        return None
    return "gzip" if start.startswith(GZIP_MAGIC) else "bzip2"


class Damage(Exception):
    """Inside this package: a member cannot be read further; becomes a finding or a stretch.

    `offset` is the place of the fault; `end` is where the member ends, if that is known.
    """

    def __init__(self, code: str, message: str, offset: int, end: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset
        self.end = end


def inflate_member(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """The content of one member in bounded pieces; its end goes to `ends`.

    Raises:
        Damage: where reading cannot continue, after all readable bytes.
    """
    if bytes(source.view(offset, 3)) == b"BZh":
        yield from _inflate_bzip2(source, offset, ends)
        return
    body = _skip_gzip_header(source, offset)
    delivered = crc = 0
    end = reached = body
    try:
        for piece, end in _inflate_raw(source, body, _IN_BYTES):  # noqa: B007
            if piece:
                crc = isal_zlib.crc32(piece, crc)
                delivered += len(piece)
                yield piece
    except InflateError as error:
        # Inflate again from the start in small steps, to get all bytes before the fault.
        seen = 0
        try:
            for piece, reached in _inflate_raw(source, body, _CAREFUL_IN_BYTES):  # noqa: B007
                seen += len(piece)
                if seen > delivered:
                    fresh = piece[len(piece) - (seen - delivered) :]
                    delivered = seen
                    yield fresh
        except InflateError:
            pass
        raise Damage("damaged", f"compressed data is damaged ({error})", reached) from error
    trailer = bytes(source.view(end, 8))
    if len(trailer) < 8:
        raise Damage("truncated", "the file ends inside a gzip trailer", end, source.size)
    expected, size = trailer[:4], int.from_bytes(trailer[4:], "little")
    sure = end + 8 if size == delivered & 0xFFFFFFFF else None
    if sure is None or expected != crc.to_bytes(4, "little"):
        raise Damage("crc", "the gzip checksum does not fit the content", end, sure)
    ends[offset] = sure


def inflate_hinted(member: bytes, size: int) -> bytearray | None:
    """The content of a member whose `HINT` is true; None if that is not certain.

    `member` has the length that the hint says, `size` is the size it says, above 0.
    libdeflate is faster than isal and verifies checksum and size, but does not tell where
    the member ended.  A member ends with its size (RFC 1952 §2.3.1): if those four bytes
    occur only once after the header, it ends there.
    """
    try:
        data = gzip_decompress(member, size)
    except DeflateError:
        return None
    elsewhere = member.rfind(member[_HINTED_SIZE], HINT.size, -1)
    return data if len(data) == size and elsewhere < 0 else None


def first_bytes(source: Source, offset: int, count: int) -> bytes:
    """At most `count` first bytes of what may be a member; cheap if it is not one."""
    try:
        if bytes(source.view(offset, 3)) == b"BZh":
            piece = next(_inflate_bzip2(source, offset, {}), b"")
            return piece[:count]
        body = _skip_gzip_header(source, offset, 1 << 10)
        fed = source.view(body, _FIRST_IN_BYTES)
        return isal_zlib.decompressobj(-15).decompress(fed, count)
    except (Damage, InflateError):
        return b""


def _inflate_raw(source: Source, offset: int, step: int) -> Iterator[tuple[bytes, int]]:
    """(inflated piece, file offset after the bytes fed); ends with the end of the data."""
    inflater = isal_zlib.decompressobj(-15)
    pending = b""
    while True:
        if not pending:
            view = source.view(offset, step)
            if not view:
                raise Damage("truncated", "the file ends inside a gzip member", offset)
            offset += len(view)
            pending = bytes(view)
        piece = inflater.decompress(pending, _OUT_BYTES)
        if inflater.eof:
            yield piece, offset - len(inflater.unused_data)
            return
        pending = inflater.unconsumed_tail
        if piece:
            yield piece, offset


def _skip_gzip_header(source: Source, offset: int, name_limit: int = 1 << 16) -> int:
    """Where the compressed data begins (RFC 1952 §2.3)."""
    fixed = bytes(source.view(offset, 10))
    if len(fixed) < 10:
        raise Damage("truncated", "the file ends inside a gzip header", offset)
    flags = fixed[3]
    at = offset + 10
    if flags & 4:
        at += 2 + int.from_bytes(source.view(at, 2), "little")
    for flag in (8, 16):
        if flags & flag:
            text = bytes(source.view(at, name_limit))
            end = text.find(b"\0")
            if end < 0:
                raise Damage("damaged", "a gzip header without an end", offset)
            at += end + 1
    return at + (2 if flags & 2 else 0)


def _inflate_bzip2(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """A bzip2 stream; its own checksums are verified by the decompressor."""
    inflater = bz2.BZ2Decompressor()
    fed = offset
    while not inflater.eof:
        view = source.view(fed, _IN_BYTES) if inflater.needs_input else memoryview(b"")
        if inflater.needs_input and not view:
            raise Damage("truncated", "the file ends inside a bzip2 stream", fed)
        fed += len(view)
        try:
            piece = inflater.decompress(view, _OUT_BYTES)
        except OSError as error:
            raise Damage("damaged", f"compressed data is damaged ({error})", fed) from error
        if piece:
            yield piece
    ends[offset] = fed - len(inflater.unused_data)

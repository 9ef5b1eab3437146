"""gzip members (RFC 1952); see `compression`.

Header and trailer are parsed here, because an inflater that checks the trailer itself
discards the last bytes if the checksum is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import cast

from deflate import DeflateError, gzip_decompress
from isal import igzip_lib, isal_zlib

from pinakes.warc.header import record_bytes
from pinakes.warc.source import IN_MEMORY_BYTES, READ_BYTES, Source

from .port import Damage, WholeMember

NAME = "gzip"
UNIT = "gzip member"
FORM_SHOWS_END = False
ENDS_WITH_CRC32 = True
GZIP_MAGIC = b"\x1f\x8b\x08"
START = rb"\x1f\x8b\x08"
# A member that begins with an extra field "sl": its length, and its size when inflated.
# GNU Wget and others write it; it may be wrong.
_HINT = Struct("<4s6x6sII")
_HINT_MAGIC = b"\x1f\x8b\x08\x04"
_HINT_EXTRA = b"\x0c\0sl\x08\0"
_HINTED_SIZE = slice(_HINT.size - 4, _HINT.size)
# isal's stubs declare its exception class as an instance.
InflateError = cast("type[Exception]", isal_zlib.IsalError)
_IN_BYTES = 1 << 14
_OUT_BYTES = 1 << 20
_FIRST_IN_BYTES = 1 << 12
_CAREFUL_IN_BYTES = 64
_FIRST_PIECE_BYTES = 1 << 14
_WHOLE_OUT_BYTES = 1 << 18
_SMALL_BYTES = 1 << 14


def inflate(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """See `compression`."""
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


def first_bytes(source: Source, offset: int, count: int) -> bytes:
    """See `compression`."""
    body = _skip_gzip_header(source, offset, 1 << 10)
    fed = source.view(body, _FIRST_IN_BYTES)
    try:
        return isal_zlib.decompressobj(-15).decompress(fed, count)
    except InflateError:
        return b""


def proven_end(source: Source, offset: int) -> int | None:
    """See `compression`: only inflating finds an end."""
    return None


def passes_over_bytes(source: Source, start: int, end: int) -> bool:
    """See `compression`: nothing is passed over."""
    return False


def has_checksums(source: Source, start: int, end: int) -> bool:
    """See `compression`: always (RFC 1952 §2.3.1)."""
    return True


def why_not_written(source: Source) -> str:
    """See `compression`: nothing hinders."""
    return ""


def compress(source: Source, data: bytes) -> bytes:
    """See `compression`; no name, no time."""
    # At this size level 1 of isal is as small as zlib's level 6, and six times as fast.
    return isal_zlib.compress(data, 1 if len(data) <= _SMALL_BYTES else 3, 31)


def compress_pieces(source: Source, pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """See `compression`; the memory of one piece."""
    # Level 3 of isal: 312 MB/s, some 14% larger than zlib's level 6.
    compressor = isal_zlib.compressobj(3, isal_zlib.DEFLATED, 31)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()


def iter_whole(source: Source, offset: int) -> Iterator[WholeMember]:
    """See `compression`."""
    base, window, limit = offset, memoryview(b""), 0
    while True:
        at = offset - base
        if at + _HINT.size > limit:
            base, at, window = offset, 0, source.view(offset, READ_BYTES)
            limit = len(window)
            if limit < _HINT.size:
                return
        # wget writes the two sizes of a member into its gzip header.
        magic, extra, length, size = _HINT.unpack_from(window, at)
        hinted = magic == _HINT_MAGIC and extra == _HINT_EXTRA and size > 0
        if hinted and (size > IN_MEMORY_BYTES or length > IN_MEMORY_BYTES):
            return
        if hinted and at + length > limit:
            base, at, window = offset, 0, source.view(offset, max(READ_BYTES, length))
            limit = len(window)
            # The length may reach past the end of the file.
            hinted = length <= limit
        data: bytes | bytearray | None = None
        if hinted:
            data = _inflate_hinted(bytes(window[at : at + length]), size)
        if data is None:
            try:
                data, length = _inflate_whole(source, offset)
            except (InflateError, EOFError):
                return
            if not length:
                return
        yield WholeMember(offset, length, data)
        offset += length


def _inflate_whole(source: Source, offset: int) -> tuple[bytes, int]:
    """A member's content and length; length 0 if it is truncated or too large."""
    inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
    room, step, fed = IN_MEMORY_BYTES, _FIRST_PIECE_BYTES, offset
    parts: list[bytes] = []
    while room > 0 and not inflater.eof:
        if len(parts) == 1 and (record_bytes(parts[0]) or 0) > IN_MEMORY_BYTES:
            return b"", 0  # the rest would be inflated twice
        view = source.view(fed, step) if inflater.needs_input else memoryview(b"")
        if inflater.needs_input and not view:
            return b"", 0
        fed += len(view)
        step = READ_BYTES
        # A buffer of this size is allocated, then cut to the content: a larger one each time
        # would cost more than continuing where this one is too small.
        part = inflater.decompress(view, min(room, _WHOLE_OUT_BYTES))
        parts.append(part)
        room -= len(part)
    if not inflater.eof:
        return b"", 0
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    return data, fed - offset - len(inflater.unused_data)


def _inflate_hinted(member: bytes, size: int) -> bytearray | None:
    """The content of a member whose `_HINT` is true; None if that is not certain.

    `member` has the length that the hint says, `size` is the size it says, above 0.
    libdeflate is faster than isal and verifies checksum and size, but does not say where
    the member ended.  A member ends with its size (RFC 1952 §2.3.1): if those four bytes
    occur only once after the header, it ends there.
    """
    try:
        data = gzip_decompress(member, size)
    except DeflateError:
        return None
    elsewhere = member.rfind(member[_HINTED_SIZE], _HINT.size, -1)
    return data if len(data) == size and elsewhere < 0 else None


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

"""Text in gzip (RFC 1952), up to where it is cut or damaged."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BufferedIOBase, BufferedReader, RawIOBase

GZIP = b"\x1f\x8b"
_FED_BYTES = 16 << 10
_PIECE_BYTES = 256 << 10
_GZIP_BITS = 31


def inflated(file: BufferedIOBase, *, between: bytes = b"") -> BufferedReader:
    """What is in the members of an open file, zeros between and after them left out.

    `between` stands after a member that does not end with a line end, if more follows.

    Every byte is given that zlib inflates before what it refuses (`gzip.GzipFile` loses the last
    8 KiB of them).  Reading on raises zlib.error, or EOFError where the file ends in a member.
    """
    return BufferedReader(_Inflated(file, between))


class _Inflated(RawIOBase):
    def __init__(self, file: BufferedIOBase, between: bytes) -> None:
        self._pieces = _divided(_inflate(file), between)
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._piece))
        buffer[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count


def _divided(pieces: Iterator[bytes], between: bytes) -> Iterator[bytes]:
    """The pieces, none of them empty; `between` where a member ends inside a line."""
    is_ended, is_new = True, False
    for piece in pieces:
        if not piece:
            is_new = True
            continue
        if is_new and not is_ended and between:
            yield between
        yield piece
        is_ended, is_new = piece.endswith(b"\n"), False


def _inflate(file: BufferedIOBase) -> Iterator[bytes]:
    """Pieces, and an empty one at the end of each member."""
    inflater, pending, is_within = zlib.decompressobj(_GZIP_BITS), b"", False
    while pending := pending or file.read(_FED_BYTES):
        if not is_within:
            pending = pending.lstrip(b"\0")
            if not pending:
                continue
        before, is_within = inflater.copy(), True
        try:
            piece = inflater.decompress(pending, _PIECE_BYTES)
        except zlib.error:
            yield from _up_to_the_error(before, pending)
            raise
        if piece:
            yield piece
        pending = inflater.unconsumed_tail
        if inflater.eof:
            pending = inflater.unused_data
            inflater, is_within = zlib.decompressobj(_GZIP_BITS), False
            yield b""
    if is_within:
        if piece := inflater.flush():
            yield piece
        raise EOFError("the file ends inside a gzip member")


def _up_to_the_error(inflater: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What is inflated byte by byte: a call that fails drops what it has inflated."""
    for at in range(len(data)):
        try:
            piece = inflater.decompress(data[at : at + 1])
        except zlib.error:
            return
        if piece:
            yield piece

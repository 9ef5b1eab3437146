"""Decoders of the content-codings of HTTP, each of pieces of any size, and whether a body has one.

Bounded: a piece that comes out has at most 2 MiB, however few bytes go in.  What
follows a complete gzip member or Zstandard frame, and is not another, is ignored.
Source: RFC 9110 §8.4.1, RFC 1952 (gzip), RFC 1950 and 1951 (deflate), RFC 7932 (br), RFC 8878 and
9659 (zstd).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Protocol

import brotli
from zstandard import ZstdDecompressor, ZstdError

from pinakes.warc.compression.zstd_format import FRAME_MAGIC, is_start

FIRST_BYTES = 1 << 12
NO_CODINGS = frozenset({"", "identity", "none"})
_PIECE_BYTES = 1 << 20
# A few kilobytes may decode to a gigabyte; the beginning shows the coding.
_MOST_DECODED_BYTES = 1 << 16
# What is left of a step is copied for each member in it, of which there may be thousands.
_STEP_BYTES = 1 << 14
# A block of 4 bytes may stand for 128 KiB.
_ZSTD_STEP_BYTES = 64
# What `zstd -d` allows; RFC 9659 lets writers use 8 MiB.
_ZSTD_WINDOW_BYTES = 1 << 27
_TOO_LARGE = "too much memory"
_GZIP_MAGIC = b"\x1f\x8b"
_MAGIC = {"gzip": _GZIP_MAGIC, "x-gzip": _GZIP_MAGIC, "zstd": FRAME_MAGIC}
_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 31, 15, -15
Pieces = Iterator["bytes | memoryview"]
Decode = Callable[[Pieces], Pieces]


class NotThisCoding(Exception):
    """A body is not in the coding that its header names."""


class TooLarge(Exception):
    """A body may be in that coding, and is not decoded here, for it would take too much."""


def peeked(pieces: Pieces, count: int) -> tuple[bytes, Pieces]:
    """The first `count` bytes, or all if there are fewer, and all of the pieces again."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= count:
            break
    return first[:count], chain((first,) if first else (), pieces)


def is_coded(content_encoding: str, first: bytes) -> bool:
    """Whether a body that begins so can have the coding; True for an unknown coding.

    Of several codings the last is checked, which was applied last.  Some writers store the decoded
    body and keep the header field.
    """
    coding = content_encoding.rpartition(",")[2].strip().lower()
    if coding in NO_CODINGS:
        return True
    if coding == "zstd":
        return is_start(first)
    if coding in _MAGIC:
        return first.startswith(_MAGIC[coding])
    if coding == "deflate":
        # With the zlib header, as the standard says, or without, as some servers send it.
        # The first bytes of a short text may be valid without the header.
        return _inflates(first, 15) or (not first.isascii() and _inflates(first, -15))
    if coding == "br":
        return _is_brotli(first)
    return True


def _inflates(first: bytes, window_bits: int) -> bool:
    inflater = zlib.decompressobj(window_bits)
    try:
        return bool(inflater.decompress(first, _MOST_DECODED_BYTES)) or inflater.eof
    except zlib.error:
        return False


def _is_brotli(first: bytes) -> bool:
    if not first:
        return False
    try:
        brotli.Decompressor().process(first, output_buffer_limit=_MOST_DECODED_BYTES)
    except brotli.error:
        return False
    return True


def _gunzip(pieces: Pieces) -> Pieces:
    return _inflate(pieces, _GZIP_BITS)


def _inflate(pieces: Pieces, window_bits: int) -> Pieces:
    inflater = zlib.decompressobj(window_bits)
    pending = b""
    try:
        for data in _steps(pieces, _STEP_BYTES):
            pending += data
            while pending:
                if inflater.eof:  # members may follow one another; anything else is ignored
                    if window_bits != _GZIP_BITS or not _may_begin(pending, _GZIP_MAGIC):
                        return
                    if len(pending) < len(_GZIP_MAGIC):
                        break
                    inflater = zlib.decompressobj(window_bits)
                yield inflater.decompress(pending, _PIECE_BYTES)
                pending = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
        yield inflater.flush()
    except zlib.error as error:
        raise NotThisCoding(str(error)) from error
    if not inflater.eof:
        raise NotThisCoding("incomplete")


def _may_begin(data: bytes, magic: bytes) -> bool:
    return magic.startswith(data[: len(magic)])


def _inflate_deflate(pieces: Pieces) -> Pieces:
    """`deflate`: zlib as in RFC 9110, or raw deflate as some servers send it."""
    first, pieces = peeked(pieces, 2)
    zlib_header = len(first) > 1 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0
    return _inflate(pieces, _ZLIB_BITS if zlib_header else _RAW_BITS)


class _BrotliDecoder(Protocol):
    def process(self, data: bytes, /, *, output_buffer_limit: int) -> bytes: ...
    def is_finished(self) -> bool: ...


def _unbrotli(pieces: Pieces) -> Pieces:
    decoder: _BrotliDecoder = brotli.Decompressor()
    for data in _steps(pieces, _STEP_BYTES):
        yield _step(decoder, data)
        while not decoder.is_finished() and (more := _step(decoder, b"")):
            yield more
    if not decoder.is_finished():
        raise NotThisCoding("incomplete")


def _step(decoder: _BrotliDecoder, data: bytes) -> bytes:
    try:
        return decoder.process(data, output_buffer_limit=_PIECE_BYTES)
    except Exception as error:  # brotli.error is a bare Exception
        raise NotThisCoding(str(error)) from error


def _unzstd(pieces: Pieces) -> Pieces:
    """Frames, one after the other; skippable ones have no content."""
    decompressor = ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    inflater, pending = decompressor.decompressobj(), b""
    try:
        for data in _steps(pieces, _ZSTD_STEP_BYTES):
            pending += data
            while pending:
                if inflater.eof:
                    if len(pending) < len(FRAME_MAGIC):
                        break
                    if not is_start(pending):  # as after a gzip member
                        return
                    inflater = decompressor.decompressobj()
                yield inflater.decompress(pending)
                pending = inflater.unused_data if inflater.eof else b""
    except ZstdError as error:
        raise (TooLarge if _TOO_LARGE in str(error) else NotThisCoding)(str(error)) from error
    if not inflater.eof:
        raise NotThisCoding("incomplete")


def _steps(pieces: Pieces, size: int) -> Iterator[bytes]:
    for piece in pieces:
        for at in range(0, len(piece), size):
            yield bytes(piece[at : at + size])


DECODERS: dict[str, Decode] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate_deflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

"""A body without its codings: chunked transfer-coding, then the content-codings of its header.

Source: RFC 9112 §7.1 (chunked), RFC 9110 §8.4.1 (content-codings), RFC 7932 (br).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from typing import Protocol

from pinakes.errors import MissingExtra

from .http import Dechunker, HttpHead

_PIECE_BYTES = 1 << 20
_MOST_CODINGS = 16
# A brotli decoder gives all of its output at once, up to 16 MiB for a few bytes.
_BROTLI_STEP_BYTES = 64
_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 31, 15, -15
Pieces = Iterator["bytes | memoryview"]
Decode = Callable[[Pieces], Pieces]


class Coded(Protocol):
    """What of a `Record` matters here."""

    @property
    def http(self) -> HttpHead | None: ...
    @property
    def chunks_finished(self) -> bool: ...
    def payload(self) -> Pieces: ...


class Undecodable(Exception):
    """A body is not in the coding that its header names; whoever asked says where it is."""


def codings_of(record: Coded) -> list[str]:
    """The content-codings that the header names, in the order in which they were applied."""
    named = (record.http.get("content-encoding") if record.http is not None else None) or ""
    codings = (coding.strip().lower() for coding in named.split(","))
    return [coding for coding in codings if coding not in ("", "identity")]


def dechunked(record: Coded) -> Pieces:
    """The body without chunks; as it is stored, where it does not begin with one.

    Many writers remove the chunks and leave the header.

    Raises:
        Undecodable: it is chunked, and damaged or cut off in its chunks.
    """
    if record.http is None or not record.http.says_chunked:
        yield from record.payload()
        return
    if not record.chunks_finished:
        start = Dechunker()
        for piece in record.payload():
            start.feed(piece)
            if start.begun:
                raise Undecodable("the body is chunked, and cut off or damaged in its chunks")
        yield from record.payload()
        return
    dechunker = Dechunker()
    for piece in record.payload():
        yield from dechunker.feed(piece)


def decoded(record: Coded) -> Pieces:
    """The body without any coding, in pieces of 1 MiB; brotli's may be 16.

    An empty body is in any coding: servers name one with 304, too.

    Raises:
        Undecodable: naming a coding that is unknown, or that the body is not in.
        MissingExtra: for brotli without its package.
    """
    pieces = dechunked(record)
    codings = codings_of(record)
    if len(codings) > _MOST_CODINGS:
        raise Undecodable(f"{len(codings)} content-codings, one in the other")
    if codings:
        first = next((piece for piece in pieces if piece), None)
        if first is None:
            return iter(())
        pieces = chain((first,), pieces)
    for coding in reversed(codings):
        decode = DECODERS.get(coding)
        if decode is None:
            raise Undecodable(f"{coding} is an unknown content-coding")
        pieces = _said(coding, decode(pieces))
    return pieces


def _said(coding: str, pieces: Pieces) -> Pieces:
    try:
        yield from pieces
    except zlib.error as error:
        raise Undecodable(f"the body is not {coding}, as its header says ({error})") from error


def _gunzip(pieces: Pieces) -> Pieces:
    return _inflate(pieces, _GZIP_BITS)


def _inflate(pieces: Pieces, window_bits: int) -> Pieces:
    inflater = zlib.decompressobj(window_bits)
    for piece in pieces:
        pending = bytes(piece)
        while pending:
            if inflater.eof:  # members may follow one another; anything else is ignored
                if window_bits != _GZIP_BITS or not pending.startswith(b"\x1f\x8b"):
                    return
                inflater = zlib.decompressobj(window_bits)
            yield inflater.decompress(pending, _PIECE_BYTES)
            pending = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    yield inflater.flush()
    if not inflater.eof:
        raise zlib.error("incomplete")


def _inflate_deflate(pieces: Pieces) -> Pieces:
    """`deflate`: zlib as in RFC 9110, or raw deflate as some servers send it."""
    first = bytes(next(pieces, b""))
    zlib_header = len(first) > 1 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0

    def again() -> Pieces:
        yield first
        yield from pieces

    return _inflate(again(), _ZLIB_BITS if zlib_header else _RAW_BITS)


class _BrotliDecoder(Protocol):
    def process(self, data: bytes, /) -> bytes: ...
    def is_finished(self) -> bool: ...


def _unbrotli(pieces: Pieces) -> Pieces:
    try:
        decoder: _BrotliDecoder = import_module("brotli").Decompressor()
    except ImportError as error:
        raise MissingExtra("brotli is not installed: pip install brotli") from error
    for piece in pieces:
        for at in range(0, len(piece), _BROTLI_STEP_BYTES):
            yield _step(decoder, bytes(piece[at : at + _BROTLI_STEP_BYTES]))
    if not decoder.is_finished():
        raise zlib.error("incomplete")


def _step(decoder: _BrotliDecoder, data: bytes) -> bytes:
    try:
        return decoder.process(data)
    except Exception as error:  # brotli.error is a bare Exception
        raise zlib.error(str(error)) from error


DECODERS: dict[str, Decode] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate_deflate,
    "br": _unbrotli,
}

"""What a declared payload digest was computed from.

The payload is the entity body: transfer-coding removed, content-coding kept.  Some writers
hash other bytes; the finding says which (docs/check.md).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from typing import Protocol

from pinakes.warc.digest import Digest, hasher
from pinakes.warc.http import Dechunker
from pinakes.warc.record import Record

DECODED_LIMIT_BYTES = 1 << 30
_PIECE_BYTES = 1 << 20
# A brotli decoder gives all of its output at once, up to 16 MiB for a few bytes.
_BROTLI_STEP_BYTES = 64
Pieces = Iterator["bytes | memoryview"]


class Basis(Enum):
    """What was hashed."""

    PAYLOAD = "the payload"
    FRAMED = "the stored body, chunk sizes included"
    DECODED = "the body with its content-coding removed"
    BLOCK = "the whole block, HTTP headers included"
    NONE = "neither the stored, the de-chunked nor the decoded body"


class Undecodable(Exception):
    """Inside this module: the body is not in the coding that its header names, or too long."""


def basis_of(record: Record, declared: Digest) -> Basis:
    """What the digest is a digest of; decoding is tried last.

    Memory: one piece.  A body that decodes to more than `DECODED_LIMIT_BYTES` is NONE.
    """
    dechunked = record.dechunked_digest(declared.algorithm)
    if declared == dechunked:
        return Basis.PAYLOAD
    if declared == record.payload_digest(declared.algorithm):
        return Basis.PAYLOAD if dechunked is None else Basis.FRAMED
    if declared == _decoded_digest(record, declared):
        return Basis.DECODED
    return Basis.BLOCK if declared == record.block_digest(declared.algorithm) else Basis.NONE


def _decoded_digest(record: Record, declared: Digest) -> Digest | None:
    head = record.http
    coding = (head.get("content-encoding") or "").strip().lower() if head else ""
    decode = _CODINGS.get(coding)
    if decode is None or head is None:
        return None
    really_chunked = head.says_chunked and record.chunks_finished
    body = _dechunk(record.payload()) if really_chunked else record.payload()
    state = hasher(declared.algorithm)()
    size = 0
    try:
        for piece in decode(body):
            size += len(piece)
            if size > DECODED_LIMIT_BYTES:
                return None
            state.update(piece)
    except Undecodable:
        return None
    return Digest(declared.algorithm, state.digest())


def _dechunk(pieces: Pieces) -> Pieces:
    dechunker = Dechunker()
    for piece in pieces:
        yield from dechunker.feed(piece)


def _gunzip(pieces: Pieces) -> Pieces:
    return _inflate(pieces, 31)


def _inflate(pieces: Pieces, window_bits: int) -> Pieces:
    inflater = zlib.decompressobj(window_bits)
    try:
        for piece in pieces:
            pending = bytes(piece)
            while pending and not inflater.eof:
                yield inflater.decompress(pending, _PIECE_BYTES)
                pending = inflater.unconsumed_tail
        yield inflater.flush()
    except zlib.error as error:
        raise Undecodable from error


def _inflate_deflate(pieces: Pieces) -> Pieces:
    """`deflate`: zlib as in RFC 9110, or raw deflate as some servers send it."""
    first = bytes(next(pieces, b""))
    zlib_header = len(first) > 1 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0

    def again() -> Pieces:
        yield first
        yield from pieces

    return _inflate(again(), 15 if zlib_header else -15)


class _BrotliDecoder(Protocol):
    def process(self, data: bytes, /) -> bytes: ...


def _unbrotli(pieces: Pieces) -> Pieces:
    """Brotli, where its package is installed; otherwise the digest fits nothing."""
    try:
        decoder: _BrotliDecoder = import_module("brotli").Decompressor()
    except ImportError as error:
        raise Undecodable from error
    try:
        for piece in pieces:
            for at in range(0, len(piece), _BROTLI_STEP_BYTES):
                yield decoder.process(bytes(piece[at : at + _BROTLI_STEP_BYTES]))
    except Exception as error:  # brotli.error is a bare Exception
        raise Undecodable from error


_CODINGS: dict[str, Callable[[Pieces], Pieces]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate_deflate,
    "br": _unbrotli,
}

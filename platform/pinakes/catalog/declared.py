"""The payload digest that a record declares, and whether it is right.

A declared digest is a claim: it is kept as written, with what it was verified over.  Records are
never merged because of it.  Writers differ in what they hash; see docs/reading.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pinakes.warc.digest import Digest, format_digest, hasher, parse_digest
from pinakes.warc.http import Dechunker
from pinakes.warc.record import Record

_MOST_DECODED_BYTES = 1 << 32
_STEP_BYTES = 1 << 20
Decode = Callable[[Iterable[bytes | memoryview]], Iterator[bytes]]


@lru_cache(maxsize=64)
def sha1_text(value: bytes) -> str:
    """A SHA-1 as archives write it; cached, because it is needed again for the cell."""
    return format_digest("sha1", value)


def verified_over(record: Record, stored_sha1: bytes | None = None) -> str | None:
    """What the declared payload digest was computed over; None if none is declared.

    `stored`, `dechunked` or `decoded` (tried only when the others fail), else
    `none`; `unreadable` if it is not a digest.  The stored body's SHA-1 may be given if
    it is known.
    """
    text = record.header.payload_digest
    if text is None:
        return None
    if stored_sha1 is not None and text == sha1_text(stored_sha1):
        return "stored"  # the fast path of most records
    declared = parse_digest(text)
    if declared is None:
        return "unreadable"
    if stored_sha1 is None or declared.algorithm != "sha1":
        stored = record.payload_hash(declared.algorithm)
    else:
        stored = stored_sha1
    if stored == declared.value:
        return "stored"
    if record.type == "revisit":
        return "none"
    dechunked = record.dechunked_digest(declared.algorithm)
    if dechunked is not None and dechunked.value == declared.value:
        return "dechunked"
    decoded = decoded_digest(record, declared.algorithm)
    return "decoded" if decoded is not None and decoded.value == declared.value else "none"


def decoded_digest(record: Record, algorithm: str) -> Digest | None:
    """The digest of the body without transfer- and content-coding; None without such coding.

    Memory is bounded; a body that decodes to more than 4 GiB is a zip bomb and has none.
    """
    decode = _decoder(((record.http and record.http.get("content-encoding")) or "").lower().strip())
    if decode is None:
        return None
    state = hasher(algorithm)()
    seen = 0
    try:
        for piece in decode(_dechunked(record)):
            seen += len(piece)
            if seen > _MOST_DECODED_BYTES:
                return None
            state.update(piece)
    except zlib.error:
        return None
    return Digest(algorithm, state.digest())


def _dechunked(record: Record) -> Iterator[bytes | memoryview]:
    if record.http is None or not record.http.says_chunked or not record.chunks_finished:
        yield from record.payload()
        return
    dechunker = Dechunker()
    for piece in record.payload():
        yield from dechunker.feed(piece)


def _decoder(coding: str) -> Decode | None:
    if coding in ("gzip", "x-gzip"):
        return lambda pieces: _inflate(pieces, zlib.MAX_WBITS | 16)
    if coding == "deflate":
        return lambda pieces: _inflate(pieces, zlib.MAX_WBITS)
    return None


def _inflate(pieces: Iterable[bytes | memoryview], window_bits: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(window_bits)
    for piece in pieces:
        pending: bytes | memoryview = piece
        while pending and not inflater.eof:
            yield inflater.decompress(pending, _STEP_BYTES)
            pending = inflater.unconsumed_tail
    yield inflater.flush()

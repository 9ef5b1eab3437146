"""What a declared payload digest was computed from.

The payload is the entity body: transfer-coding removed, content-coding kept.  Some writers
hash other bytes; the finding says which (docs/check.md).
"""

from __future__ import annotations

from enum import Enum

from pinakes.errors import MissingExtra
from pinakes.warc.codings import Undecodable, codings_of, decoded
from pinakes.warc.digest import Digest, hasher
from pinakes.warc.record import Record

DECODED_LIMIT_BYTES = 1 << 30


class Basis(Enum):
    """What was hashed."""

    PAYLOAD = "the payload"
    FRAMED = "the stored body, chunk sizes included"
    DECODED = "the body with its content-coding removed"
    BLOCK = "the whole block, HTTP headers included"
    NONE = "neither the stored, the de-chunked nor the decoded body"


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
    if not codings_of(record):
        return None
    state = hasher(declared.algorithm)()
    size = 0
    try:
        for piece in decoded(record):
            size += len(piece)
            if size > DECODED_LIMIT_BYTES:
                return None
            state.update(piece)
    except (Undecodable, MissingExtra):
        return None
    return Digest(declared.algorithm, state.digest())

"""What a declared payload digest was computed from.

The payload is the entity body: transfer-coding removed, content-coding kept.  Some writers
hash other bytes; the finding says which (docs/check.md).
"""

from __future__ import annotations

from enum import Enum

from pinakes.warc.digest import Digest
from pinakes.warc.http.codings import NotDecodedHere, decoded_digest
from pinakes.warc.record import Record

DECODED_LIMIT_BYTES = 1 << 30


class Basis(Enum):
    """What was hashed."""

    PAYLOAD = "the payload"
    FRAMED = "the stored body, chunk sizes included"
    DECODED = "the body with its content-coding removed"
    BLOCK = "the whole block, HTTP headers included"
    UNKNOWN = "the decoded body, which is in an unknown coding, or too large to decode"
    NONE = "neither the stored, the de-chunked nor the decoded body"


def basis_of(record: Record, declared: Digest) -> Basis:
    """What the digest is a digest of; decoding is tried last.

    Memory: one piece.  UNKNOWN where nothing else fits and the body is not decoded: it is in a
    coding that is not known here, or longer than `DECODED_LIMIT_BYTES` without.
    """
    dechunked = record.dechunked_digest(declared.algorithm)
    if declared == dechunked:
        return Basis.PAYLOAD
    if declared == record.payload_digest(declared.algorithm):
        return Basis.PAYLOAD if dechunked is None else Basis.FRAMED
    otherwise = Basis.NONE
    try:
        for content, basis in ((False, Basis.PAYLOAD), (True, Basis.DECODED)):
            digest = decoded_digest(
                record, declared.algorithm, DECODED_LIMIT_BYTES, content=content
            )
            if declared == digest:
                return basis
    except NotDecodedHere:
        otherwise = Basis.UNKNOWN
    return Basis.BLOCK if declared == record.block_digest(declared.algorithm) else otherwise

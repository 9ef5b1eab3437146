"""The payload digest that a record declares, and whether it is right.

A declared digest is a claim: it is kept as written, with what it was verified over.  Records are
never merged because of it.  Writers differ in what they hash; see docs/reading.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pinakes.warc.digest import Digest, format_digest, parse_digest
from pinakes.warc.http.codings import NotDecodedHere, codings_of, decoded_digest
from pinakes.warc.record import Record

_MOST_DECODED_BYTES = 1 << 32
_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "zstd"})


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
    return _computed_over(declared, record, stored_sha1)


def may_stand_for(declared: str | None, body: Record) -> bool:
    """Whether a revisit that declares this payload digest may have the body of a record.

    Not that of a record that cannot be read to its end.  Else the record declares the same, or its
    body has the digest, in any of the ways in which writers compute it.  Without a digest nothing
    speaks against it; with one that cannot be computed (in an unknown spelling, or by another
    algorithm) it is not proven.
    """
    if body.damage:
        return False
    own = body.header.payload_digest
    if declared is None or declared == own:
        return True
    digest = parse_digest(declared)
    if digest is None:
        return False
    return digest == parse_digest(own or "") or _computed_over(digest, body) != "none"


def has_declared_digest(declared: str | None, body: Record) -> bool:
    """Whether a body has this payload digest, in any of the ways in which writers compute it.

    By its bytes alone: what the record declares of itself is not asked.
    """
    digest = parse_digest(declared or "")
    return digest is not None and _computed_over(digest, body) != "none"


def _computed_over(declared: Digest, record: Record, stored_sha1: bytes | None = None) -> str:
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
    decoded = _decoded(record, declared.algorithm)
    return "decoded" if decoded is not None and decoded == declared else "none"


def body_digests(record: Record, algorithms: Iterable[str]) -> set[str]:
    """The digests of a body by these algorithms, in our spelling: as it is stored, without chunks,
    and without content-coding."""
    found = {
        digest
        for algorithm in algorithms
        for digest in (
            record.payload_digest(algorithm),
            record.dechunked_digest(algorithm),
            _decoded(record, algorithm),
        )
    }
    return {str(digest) for digest in found if digest is not None}


def _decoded(record: Record, algorithm: str) -> Digest | None:
    """The digest of the body without transfer- and content-coding; None without such coding.

    Memory is bounded; a body that decodes to more than 4 GiB is a zip bomb and has none.
    """
    # Not br: what has landed was judged without it, and `fsck --full` compares with that.
    if not _CODINGS.issuperset(codings_of(record)):
        return None
    try:
        return decoded_digest(record, algorithm, _MOST_DECODED_BYTES)
    except NotDecodedHere:
        return None

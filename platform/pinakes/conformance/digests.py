"""Checks of declared digests against the stored bytes."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.warc.digest import parse_digest
from pinakes.warc.field_names import WARC_BLOCK_DIGEST_KEY, WARC_PAYLOAD_DIGEST_KEY

from . import syntax
from .payload import Basis, basis_of
from .rules import Hit
from .subject import Subject

_CODES = {
    Basis.FRAMED: "payload-digest-framed",
    Basis.DECODED: "payload-digest-decoded",
    Basis.BLOCK: "payload-digest-wrong",
    Basis.NONE: "payload-digest-wrong",
}
_WITH_PAYLOAD = ("response", "resource", "request", "conversion")


def check_declared_digest(subject: Subject, name: str) -> Iterator[Hit]:
    """Padding and algorithm of a declared digest; `headers` checks its grammar."""
    text = subject.first(name)
    if text is None:
        return
    digest = parse_digest(text)
    if digest is not None and text.endswith("="):
        yield Hit("digest-padding", f"{syntax.shown(text)} ends with =")
    label = text.partition(":")[0]
    if digest is None and ":" in text and not syntax.is_known_algorithm(label):
        yield Hit("digest-unverified", f"{syntax.shown(label)} is not verified here")


def check_block_digest(subject: Subject) -> Iterator[Hit]:
    """WARC-Block-Digest; a truncated block is reported as such, and its digest is not checked."""
    yield from check_declared_digest(subject, WARC_BLOCK_DIGEST_KEY)
    declared = parse_digest(subject.first(WARC_BLOCK_DIGEST_KEY) or "")
    if declared is not None and subject.is_whole:
        found = subject.record.block_digest(declared.algorithm)
        if found != declared:
            yield Hit(
                "block-digest-wrong", f"{declared} is declared, {found} is the digest of the block"
            )


def check_payload_digest(subject: Subject) -> Iterator[Hit]:
    """WARC-Payload-Digest of a record that holds its payload.

    A revisit declares the digest of its original, a segment that of the whole record.
    """
    yield from check_declared_digest(subject, WARC_PAYLOAD_DIGEST_KEY)
    declared = parse_digest(subject.first(WARC_PAYLOAD_DIGEST_KEY) or "")
    if declared is None or not subject.is_whole or subject.is_segment:
        return
    if subject.type not in _WITH_PAYLOAD:
        return
    basis = basis_of(subject.record, declared)
    if basis is Basis.UNKNOWN:
        yield Hit("digest-unverified", f"{declared} may be the digest of {basis.value}")
    elif basis is not Basis.PAYLOAD:
        yield Hit(_CODES[basis], f"{declared} is the digest of {basis.value}")

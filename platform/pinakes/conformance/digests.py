"""Checks of declared digests against what lies there."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.warc.digest import Digest, parse_digest

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


def check_block_digest(subject: Subject) -> Iterator[Hit]:
    """WARC-Block-Digest; not of a block that is cut off, whose end is reported already."""
    declared, hits = _declared(subject, "warc-block-digest")
    yield from hits
    if declared is not None and subject.is_whole:
        found = subject.record.block_digest(declared.algorithm)
        if found != declared:
            yield Hit("block-digest-wrong", f"{declared} is declared, {found} lies there")


def check_payload_digest(subject: Subject) -> Iterator[Hit]:
    """WARC-Payload-Digest of a record that holds its payload.

    A revisit's is its original's, and a segment's is the whole record's.
    """
    declared, hits = _declared(subject, "warc-payload-digest")
    yield from hits
    if declared is None or not subject.is_whole or subject.is_segment:
        return
    if subject.type not in _WITH_PAYLOAD:
        return
    basis = basis_of(subject.record, declared)
    if basis is not Basis.PAYLOAD:
        yield Hit(_CODES[basis], f"{declared} is the digest of {basis.value}")


def _declared(subject: Subject, name: str) -> tuple[Digest | None, list[Hit]]:
    text = subject.first(name)
    if text is None:
        return None, []
    hits = []
    digest = parse_digest(text)
    if digest is not None and text.endswith("="):
        hits.append(Hit("digest-padding", f"{syntax.shown(text)} ends with ="))
    label = text.partition(":")[0]
    if digest is None and ":" in text and not syntax.is_known_algorithm(label):
        hits.append(Hit("digest-unverified", f"{syntax.shown(label)} is not verified here"))
    return digest, hits

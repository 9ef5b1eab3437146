"""What changed between one capture of a URL and the next.  Pure."""

from __future__ import annotations

from typing import NamedTuple

from pinakes.catalog.captures import Capture
from pinakes.catalog.payloads import has_digest
from pinakes.hbase_schema.capture_cells import CaptureFacts


class Change(NamedTuple):
    """A kind, for the style (`same`, `other`, `status`, `plain`), and words."""

    kind: str
    words: str


def changes(before: Capture | None, capture: Capture) -> list[Change]:
    """What is different from the capture before; for the first one, nothing but that it is."""
    found = [_body(before, capture)]
    facts = capture.facts
    if facts.type == "revisit":
        found.append(Change("plain", "revisit by its crawler"))
    elif capture.is_duplicate:
        found.append(Change("plain", "stored as a revisit by dedupe"))
    if before is None:
        return found
    was = before.facts
    if _status(was) != _status(facts):
        found.append(Change("status", f"status {_status(was)} → {_status(facts)}"))
    if was.media_type and facts.media_type and was.media_type != facts.media_type:
        found.append(Change("status", f"type {was.media_type} → {facts.media_type}"))
    return found


def _body(before: Capture | None, capture: Capture) -> Change:
    if before is None:
        return Change("plain", "first capture")
    same = is_same_body(before.facts, capture.facts)
    if same is None:
        return Change("plain", "body not comparable: a digest is missing")
    if same:
        return Change("same", "same body")
    sizes = (before.facts, capture.facts)
    if any(facts.type == "revisit" or facts.payload_size is None for facts in sizes):
        return Change("other", "other body")
    difference = (capture.facts.payload_size or 0) - (before.facts.payload_size or 0)
    words = f"{difference:+,} bytes" if difference else "of the same size"
    return Change("other", f"other body, {words}")


def is_same_body(one: CaptureFacts, two: CaptureFacts) -> bool | None:
    """Whether two captures have one body, by their digests; None if that is not known."""
    mine, others = _digests(one), _digests(two)
    if not mine or not others:
        return None
    return any(has_digest(two, digest) for digest in mine)


def _digests(facts: CaptureFacts) -> list[str]:
    if facts.type == "revisit":  # its own block has no body
        return [facts.declared_digest] if facts.declared_digest else []
    return [text for text in (facts.payload_sha1, facts.declared_digest) if text]


def _status(facts: CaptureFacts) -> str:
    return "none" if facts.status is None else str(facts.status)

"""Checks of one revisit record; `targets` checks what it refers to.

Source: ISO 28500:2017 §6.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.warc.field_names import (
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_PROFILE_KEY,
    WARC_REFERS_TO_DATE,
    WARC_REFERS_TO_KEY,
    WARC_REFERS_TO_TARGET_URI,
    WARC_TRUNCATED_KEY,
)

from . import syntax
from .rules import Hit
from .subject import Subject

IDENTICAL = "identical-payload-digest"
NOT_MODIFIED = "server-not-modified"
_BASE = "http://netpreserve.org/warc/"


def profile_of(uri: str | None) -> str | None:
    """`IDENTICAL` or `NOT_MODIFIED`, in any version's spelling; None for another profile.

    The examples of the standard leave out `revisit/` (erratum 36).
    """
    if not uri or not uri.startswith(_BASE):
        return None
    name = uri.rpartition("/")[2]
    return name if name in (IDENTICAL, NOT_MODIFIED) else None


def check_revisit(subject: Subject) -> Iterator[Hit]:
    """Profile, digest, block and references of a revisit."""
    uri = subject.uri(WARC_PROFILE_KEY)
    if subject.type != "revisit":
        if uri is not None:
            yield Hit("profile-undefined", f"WARC-Profile on a {subject.type} record")
        return
    profile = profile_of(uri)
    if profile is None:
        if uri is not None:
            yield Hit("profile-unknown", f"{syntax.shown(uri)}: not interpreted")
        return
    expected = f"{_BASE}{subject.version}/revisit/{profile}"
    if uri != expected:
        message = f"{syntax.shown(uri or '')}: WARC/{subject.version} has {expected}"
        yield Hit("profile-version", message)
    if profile == IDENTICAL:
        yield from _check_identical(subject)
    yield from _check_references(subject, profile)


def _check_identical(subject: Subject) -> Iterator[Hit]:
    record = subject.record
    if WARC_PAYLOAD_DIGEST_KEY not in subject.fields:
        yield Hit("revisit-payload-digest", "identical payload, but no WARC-Payload-Digest")
    if not record.block_size:
        if subject.is_http:
            yield Hit("revisit-http-headers", "no block: the response headers are missing")
        return
    body = record.payload_size if record.http is not None else 0
    if body > 0:
        yield Hit("revisit-body", f"{body} bytes of body after the HTTP headers")
    reason = subject.first(WARC_TRUNCATED_KEY)
    if (reason or "").lower() != "length" and not body and not _had_no_body(subject):
        there = f"WARC-Truncated: {reason[:80]}" if reason else "no WARC-Truncated"
        yield Hit("revisit-truncated", f"the payload is omitted, with {there}")


def _had_no_body(subject: Subject) -> bool:
    head = subject.record.http
    return head is not None and head.content_length == 0


def _check_references(subject: Subject, profile: str) -> Iterator[Hit]:
    if WARC_REFERS_TO_KEY not in subject.fields:
        yield Hit("revisit-refers-to", "a revisit without WARC-Refers-To")
    wanted = [WARC_REFERS_TO_TARGET_URI] if profile == IDENTICAL else []
    wanted.append(WARC_REFERS_TO_DATE)
    missing = [name for name in wanted if name.lower() not in subject.fields]
    if missing:
        yield Hit("revisit-refers-to-date", f"a revisit without {' and '.join(missing)}")

"""Who looks at what: by a hash of the pair's key, so that every process decides alike.  Pure.

One pair in ten goes to two reviewers, who do not see each other's judgement; half of these
hide the machine's verdict as well.  Of the pairs that the machine calls similar some are
audited: the first in the order of another hash, a sample that nobody has chosen.
"""

from __future__ import annotations

from hashlib import sha256

DOUBLE_ONE_IN = 10
HIDDEN_ONE_IN = 2
"""Of the pairs that go to two."""

AUDIT_SHARE = 0.1
AUDIT_AT_LEAST = 100
_BYTES = 8


def place(key: bytes, what: str) -> int:
    """A number of 64 bits for a pair's row key, another for each purpose."""
    return int.from_bytes(sha256(what.encode("ascii") + b"\0" + key).digest()[:_BYTES], "big")


def judgements_needed(key: bytes) -> int:
    """How many reviewers a pair goes to: 1, or 2."""
    return 2 if place(key, "double") % DOUBLE_ONE_IN == 0 else 1


def hides_verdict(key: bytes) -> bool:
    """Whether the machine's verdict is kept from its reviewers until they have judged."""
    return judgements_needed(key) == 2 and place(key, "hidden") % HIDDEN_ONE_IN == 0


def audit_order(key: bytes) -> int:
    """Where a pair stands in the order in which similar ones are audited."""
    return place(key, "audit")


def audit_size(similar: int) -> int:
    """How many of so many similar pairs are audited: a tenth, at least a hundred."""
    return min(similar, max(AUDIT_AT_LEAST, round(similar * AUDIT_SHARE)))

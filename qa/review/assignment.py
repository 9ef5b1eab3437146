"""Which pairs need how many reviewers, by hashes of their keys: the same in every process.  Pure.

One pair in ten needs two reviewers, who do not see each other's judgement; half of these also
hide the machine's verdict.  Of the pairs that the machine calls similar some are audited: the
first in the order of another hash, a random sample.  Of those that are proven by bytes few are:
they tell whether the proof can be believed, and nothing of a model.
"""

from __future__ import annotations

from hashlib import sha256

DOUBLE_ONE_IN = 10
HIDDEN_ONE_IN = 2
"""Of the pairs with two reviewers."""

AUDIT_SHARE = 0.1
AUDIT_AT_LEAST = 100
PROVEN_AUDIT = 5
_BYTES = 8


def place(key: bytes, what: str) -> int:
    """A 64-bit number for a pair's row key, different for each purpose."""
    return int.from_bytes(sha256(what.encode("ascii") + b"\0" + key).digest()[:_BYTES], "big")


def judgements_needed(key: bytes) -> int:
    """How many reviewers must judge a pair: 1 or 2."""
    return 2 if place(key, "double") % DOUBLE_ONE_IN == 0 else 1


def hides_verdict(key: bytes) -> bool:
    """Whether the machine's verdict is hidden from reviewers until they have judged."""
    return judgements_needed(key) == 2 and place(key, "hidden") % HIDDEN_ONE_IN == 0


def audit_order(key: bytes) -> int:
    """A pair's position in the order in which similar ones are audited."""
    return place(key, "audit")


def audit_size(similar: int, *, proven: bool = False) -> int:
    """How many of `similar` pairs are audited: a tenth, at least a hundred; `proven`: five."""
    at_least = PROVEN_AUDIT if proven else max(AUDIT_AT_LEAST, round(similar * AUDIT_SHARE))
    return min(similar, at_least)

"""A pair under review: its row, its id, the reviewers that it needs.  Pure.

Which pairs need how many reviewers is decided by hashes of their keys, the same in every process.
One pair in ten needs two reviewers, who do not see each other's judgement; half of these also
hide the machine's verdict.  Of the pairs that the machine calls similar some are audited: the
first in the order of another hash, a random sample.  Of those that are proven by bytes few are:
they show whether the proof can be believed, and nothing of a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from pinakes.access.display import display_text
from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.name_keys import encode_pair_key
from pinakes.index.urlkey import urlkey
from pinakes.qa.results import JudgedPair, Verdict, kind_of_pair, pair_key

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


_ID_CHARACTERS = 16
_GROUPS = {
    Verdict.DISSIMILAR: 0,
    Verdict.UNCERTAIN: 1,
    Verdict.BY_BROWSER: 2,
    Verdict.SIMILAR: 4,
}
HIDDEN_GROUP = 3
"""The place in the list of pairs with a hidden verdict, which must not reveal it."""

_SITE_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedPair:
    """`id` is its name in URLs; `key` its row; `judgements_needed` reviewers look at it.

    `rank` is its place in a list: the worst first; of the similar the audited ones first, in
    the order of the audit.  `place` is its place among pairs with a hidden verdict.
    """

    id: str
    key: bytes
    judged: JudgedPair
    site: str
    browsers: str
    judgements_needed: int
    hides_verdict: bool
    in_audit: bool
    rank: tuple[int, int, float]
    place: int

    @property
    def is_alarm(self) -> bool:
        """Whether the machine calls for people: see `Verdict.is_alarm`."""
        return self.judged.result.verdict.is_alarm

    @property
    def is_proven(self) -> bool:
        """Whether the machine's verdict is a proof by bytes."""
        return self.judged.result.is_proven

    @property
    def is_queued(self) -> bool:
        """Whether people should review it: all alarms, and an audit of the rest."""
        return self.is_alarm or self.in_audit


def reviewed_pairs(pairs: Iterable[JudgedPair]) -> tuple[list[ReviewedPair], int]:
    """The pairs of a run by rank, and how many repeated results were left out.

    Of several results for one row the first counts, which is the worst as they are read.

    Raises:
        MalformedRecord: a result has no key, or no weight.
        ConfigError: the run's name is invalid, so that it has no rows.
    """
    found: dict[bytes, JudgedPair] = {}
    repeated = 0
    for pair in pairs:
        if not (math.isfinite(pair.weight) and math.isfinite(pair.result.confidence)):
            raise MalformedRecord("a pair's weight or confidence is not a number")
        try:
            key = encode_pair_key(pair_key(pair.result))
        except ValueError as error:
            raise MalformedRecord(f"a pair has no row key: {error}") from error
        repeated += key in found
        found.setdefault(key, pair)
    audited = frozenset(_audited(found))
    made = [_reviewed(key, pair, key in audited) for key, pair in found.items()]
    return sorted(made, key=lambda pair: (pair.rank, pair.key)), repeated


def _audited(pairs: Mapping[bytes, JudgedPair]) -> Iterator[bytes]:
    """The keys of the similar pairs that are audited: proven ones, and others."""
    for proven in (True, False):
        similar = [
            key
            for key, pair in pairs.items()
            if not pair.result.verdict.is_alarm and pair.result.is_proven is proven
        ]
        yield from sorted(similar, key=audit_order)[: audit_size(len(similar), proven=proven)]


def _reviewed(key: bytes, pair: JudgedPair, in_audit: bool) -> ReviewedPair:
    result = pair.result
    within = audit_order(key) if in_audit else -result.confidence
    return ReviewedPair(
        id=sha256(key).hexdigest()[:_ID_CHARACTERS],
        key=key,
        judged=pair,
        site=site_of(result.url),
        browsers=kind_of_pair(result),
        judgements_needed=judgements_needed(key),
        hides_verdict=hides_verdict(key),
        in_audit=in_audit,
        rank=(_GROUPS[result.verdict], not in_audit, within),
        place=audit_order(key),
    )


def site_of(url: str) -> str:
    """The host of a URL without `www.`; empty if it has none."""
    reversed_host, parenthesis, _ = urlkey(url[:_SITE_CHARACTERS]).partition(")")
    parts, colon, port = reversed_host.partition(":")
    host = ".".join(reversed(parts.split(","))) + colon + port if parenthesis else ""
    return display_text(host, _SITE_CHARACTERS)

"""What the report is filtered by: verdict, kind of pair, causes, what people settled.  Pure.

A cause is a reason without what is particular to its page: what stands before its colon, numbers
left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pinakes.qa.results.pair_line import JudgedPair
from pinakes.qa.results.pair_result import Verdict

from .views import kind_of_pair

VERDICTS = tuple(sorted(Verdict, key=lambda verdict: -verdict.gravity))
OPEN = "not settled"
_MOST_CAUSES = 40
_CAUSE_CHARACTERS = 60
_NUMBER = re.compile(r"\d[\d.,]*\s?%?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The values of each filter, and of each pair its places among them.

    `causes` are those of most pairs first; a pair has any number of them.  `settled` is empty if
    nothing is known of a review.
    """

    verdicts: Sequence[str]
    kinds: Sequence[str]
    causes: Sequence[str]
    settled: Sequence[str]
    pairs: Sequence[tuple[int, int, tuple[int, ...], int]]


def filters_of(pairs: Sequence[JudgedPair], labels: Mapping[int, str] | None = None) -> Filters:
    """`labels` are what people settled, by a pair's number; None if that is unknown."""
    kinds = sorted({kind_of_pair(pair.result) for pair in pairs})
    found = [_causes(pair) for pair in pairs]
    counts = Counter(cause for causes in found for cause in causes)
    causes = [cause for cause, _ in counts.most_common(_MOST_CAUSES)]
    settled = [] if labels is None else [OPEN, *sorted(set(labels.values()))]
    verdicts = [verdict.value for verdict in VERDICTS]
    places = {name: number for number, name in enumerate(causes)}
    return Filters(
        verdicts=verdicts,
        kinds=kinds,
        causes=causes,
        settled=settled,
        pairs=[
            (
                verdicts.index(pair.result.verdict.value),
                kinds.index(kind_of_pair(pair.result)),
                tuple(sorted(places[cause] for cause in named if cause in places)),
                settled.index(labels.get(number, OPEN)) if labels is not None else 0,
            )
            for number, (pair, named) in enumerate(zip(pairs, found, strict=True))
        ],
    )


def _causes(pair: JudgedPair) -> set[str]:
    return {cause for reason in pair.result.reasons if (cause := cause_of(reason))}


def cause_of(reason: str) -> str:
    """What a reason has in common with those of other pages; empty if nothing."""
    words = _NUMBER.sub("", reason.partition(":")[0])
    return " ".join(words.split())[:_CAUSE_CHARACTERS].strip(" ,;()")

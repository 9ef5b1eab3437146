"""How many pages of the crawl are faulty, as far as people's judgements tell.  Pure.

Two strata: what the machine raised an alarm about (dissimilar, uncertain), all of which is
settled, or there is no estimate: people see the gravest first, and those that they have come to
are no sample of the others.  And what it called similar, of which a random sample is audited: the
share of faulty pages among those that are settled, by weight, stands for all of that stratum.
Those that somebody has judged must be settled as well: what people are unsure of or disagree
about is harder than the rest.  Nor is there an estimate while pages of the sample are not
looked at: runs go by host, and the first hosts are no sample of all.

The interval is the wider of two Bayesian bootstraps (Rubin, "The Bayesian bootstrap", 1981),
in which sites or pages get random weights, exponentially distributed; how large the strata are
is as uncertain as what is in them.  By site, since pages of one site resemble each other; and
by page, since few sites tell nothing of how far chance goes: one has no other to differ from.
For the upper end half a page that is faulty and half a page that is right are added to each
stratum, with random weights of their own (Jeffreys' prior): the plain bootstrap would be
certain that there is no fault where a small audit found none.  The lower end and the figure
itself have no such addition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import mul
from typing import NamedTuple, TypeVar

AT_LEAST = 50
"""Fewer reviewed pairs than these are not enough."""

DRAWS = 1000
_CONFIDENCE = 0.95
_PRIOR = 0.5
_STRATA = True, False
_FOUND = None, False, True


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPair:
    """A pair of the sample: `is_faulty` is None where nothing is settled.

    `is_judged` says whether anybody has said something of it.  `counts` says whether a settled
    one may stand for others: alarms do, and audited pairs; a similar one that somebody has
    picked does not.
    """

    site: str
    weight: float
    is_alarm: bool
    is_faulty: bool | None = None
    is_judged: bool = False
    counts: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Of all pages that the sample stands for: the share that is faulty, with its interval.

    `pages` is how many that are, of those that were looked at.  Shares are None where there is
    not enough to go by, and `wanting` says all that there is not enough of.
    """

    pages: float
    reviewed: int
    alarms_reviewed: int
    alarms: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    wanting: str | None = None


class _Sums(NamedTuple):
    """Weights of pages of one stratum: all, those that are settled, the faulty among them."""

    all: float
    settled: float
    faulty: float


class _Columns(NamedTuple):
    """The same, of each site."""

    all: list[float]
    settled: list[float]
    faulty: list[float]


_T = TypeVar("_T")
# Of the alarms, and of what is similar.
_Both = tuple[_T, _T]


def estimate(
    pairs: Iterable[SampledPair], *, seed: str, draws: int = DRAWS, not_captured: str | None = None
) -> Estimate:
    """The estimate; the same pairs and the same seed, the same figures.

    `not_captured` says which pages of the sample have no pair yet; None where all have one.
    """
    known = list(pairs)
    alarms = [pair for pair in known if pair.is_alarm]
    counted = [pair for pair in known if _counts(pair)]
    found = Estimate(
        pages=sum(pair.weight for pair in known),
        reviewed=len(counted),
        alarms_reviewed=sum(pair.is_alarm for pair in counted),
        alarms=len(alarms),
    )
    lacks = [not_captured, *_lacks(found, [pair for pair in known if not pair.is_alarm])]
    if any(lacks):
        return replace(found, wanting="; ".join(filter(None, lacks)))
    columns = _columns(known)
    share = low = high = _share(tuple(_Sums(*map(sum, each)) for each in columns))
    mean_weight = sum(pair.weight for pair in counted) / len(counted)
    dice = random.Random(seed)  # noqa: S311 (nothing is kept secret by it)
    tail = round(draws * (1 - _CONFIDENCE) / 2)
    for draw in (_by_site(columns), _by_page(known)):
        drawn = [draw(dice) for _ in range(draws)]
        low = min(low, sorted(map(_share, drawn))[tail])
        added = (tuple(_with_prior(sums, dice, mean_weight) for sums in both) for both in drawn)
        high = max(high, sorted(map(_share, added))[-tail - 1])
    return replace(found, share=share, low=low, high=high)


def _lacks(found: Estimate, similar: Sequence[SampledPair]) -> Iterator[str]:
    """What reviewers have still to do."""
    if found.reviewed < AT_LEAST:
        yield f"{found.reviewed} reviewed pairs count, and {AT_LEAST} are wanted"
    left = found.alarms - found.alarms_reviewed
    if left:
        yield f"{left:,} of {found.alarms:,} alarms are not settled"
    begun = [pair for pair in similar if pair.is_judged and pair.counts]
    open_still = sum(pair.is_faulty is None for pair in begun)
    if open_still:
        yield f"{open_still:,} of {len(begun):,} audited pairs that were judged are not settled"
    elif similar and found.reviewed == found.alarms_reviewed:
        yield "none of the similar pairs has been audited"


def _counts(pair: SampledPair) -> bool:
    return pair.is_faulty is not None and pair.counts


def _columns(pairs: Sequence[SampledPair]) -> tuple[_Columns, _Columns]:
    """Of the alarms and of what is similar, the weights of each site, sites in one order."""
    numbers: dict[str, int] = {}
    for pair in pairs:
        numbers.setdefault(pair.site, len(numbers))
    both = tuple(_Columns(*([0.0] * len(numbers) for _ in range(3))) for _ in range(2))
    for pair in pairs:
        columns, number = both[not pair.is_alarm], numbers[pair.site]
        columns.all[number] += pair.weight
        if _counts(pair):
            columns.settled[number] += pair.weight
            columns.faulty[number] += pair.weight if pair.is_faulty else 0.0
    return both[0], both[1]


def _by_site(both: _Both[_Columns]) -> Callable[[random.Random], _Both[_Sums]]:
    """Draws sums of each stratum where a site counts so many times, in both alike."""

    def draw(dice: random.Random) -> _Both[_Sums]:
        chances = [dice.expovariate(1.0) for _ in both[0].all]
        alarms, similar = (
            _Sums(*(sum(map(mul, chances, column)) for column in columns)) for columns in both
        )
        return alarms, similar

    return draw


def _by_page(pairs: Sequence[SampledPair]) -> Callable[[random.Random], _Both[_Sums]]:
    """Draws sums of each stratum where a page counts so many times."""
    weights: dict[tuple[bool, bool | None], list[float]] = {}
    for pair in pairs:
        found = pair.is_faulty if pair.counts else None
        weights.setdefault((pair.is_alarm, found), []).append(pair.weight)
    parts = {part: _chances_summed(weights.get(part, [])) for part in product(_STRATA, _FOUND)}

    def draw(dice: random.Random) -> _Both[_Sums]:
        def sums(is_alarm: bool) -> _Sums:
            unsettled, right, faulty = (parts[is_alarm, found](dice) for found in _FOUND)
            return _Sums(unsettled + right + faulty, right + faulty, faulty)

        return sums(True), sums(False)

    return draw


def _chances_summed(weights: Sequence[float]) -> Callable[[random.Random], float]:
    """Draws a sum of weights, each so many times.

    By the gamma distribution of its mean and variance, which is the sum's own where the weights
    are equal, and takes no longer for many pages.
    """
    mean = sum(weights)
    if mean <= 0:
        return lambda _: 0.0
    unevenness = sum((weight / mean) ** 2 for weight in weights)
    return lambda dice: dice.gammavariate(1 / unevenness, mean * unevenness)


def _with_prior(sums: _Sums, dice: random.Random, mean_weight: float) -> _Sums:
    """And half a page that is faulty and half a page that is right, of no site."""
    faulty = mean_weight * dice.gammavariate(_PRIOR, 1.0)
    right = mean_weight * dice.gammavariate(_PRIOR, 1.0)
    return _Sums(sums.all, sums.settled + faulty + right, sums.faulty + faulty)


def _share(strata: Sequence[_Sums]) -> float:
    """The faulty share of all: of each stratum that of what is settled stands for all of it."""
    of_all = sum(sums.all for sums in strata)
    faulty = sum(sums.all * sums.faulty / sums.settled for sums in strata if sums.settled)
    return faulty / of_all if of_all else 0.0

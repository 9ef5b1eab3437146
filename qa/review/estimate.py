"""Estimates the share of faulty pages of the crawl from people's judgements.  Pure.

Two strata.  Alarms (dissimilar, uncertain): all must be settled, since people see the worst first,
and those already judged are not a sample of the others.  Similar pairs: a random sample is
audited, and the weighted share of faulty pages among the settled ones represents the stratum;
each audited pair that somebody has judged must be settled as well, since pairs on which people
are unsure or disagree are harder than the rest.  There is no estimate while pages of the sample
are not captured: runs go by host, and the first hosts are not a sample of all.

The interval is the wider of two Bayesian bootstraps (Rubin, "The Bayesian bootstrap", 1981), in
which sites or pages get random weights, exponentially distributed; the sizes of the strata are
as uncertain as their contents.  By site, since pages of one site resemble each other; by page,
since a few sites show little of the variation.  For the upper end, half a faulty page and half a
right page with random weights are added to each stratum (Jeffreys' prior): otherwise a small
audit without faults would give a certain 0.  The lower end and the figure itself have no such
addition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import mul
from typing import NamedTuple, TypeVar

AT_LEAST = 50
"""The least number of reviewed pairs."""

DRAWS = 1000
_CONFIDENCE = 0.95
_PRIOR = 0.5
_STRATA = True, False
_FOUND = None, False, True


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPair:
    """A pair of the sample: `is_faulty` is None unless settled.

    `is_judged`: somebody has judged it.  `counts`: once settled it may represent others: alarms
    and audited pairs do; a similar pair that somebody picked does not.
    """

    site: str
    weight: float
    is_alarm: bool
    is_faulty: bool | None = None
    is_judged: bool = False
    counts: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The share of faulty pages among all that the sample represents, with its interval.

    `pages` is their number, as far as captured.  Shares are None if there are too few judgements;
    `wanting` says what is missing.
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
        yield f"{found.reviewed} reviewed pairs count; {AT_LEAST} are needed"
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

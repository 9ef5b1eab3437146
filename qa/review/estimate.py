"""Estimates the share of faulty pages of the crawl from people's judgements.  Pure.

Three strata.  Alarms (dissimilar, uncertain): all must be settled, since people see the worst
first, and those already judged are not a sample of the others.  Similar pairs: a random sample is
audited, and the weighted share of faulty pages among the settled ones represents the stratum;
each audited pair that a person has judged must be settled as well, since pairs on which people
are unsure or disagree are harder than the rest.  Pairs that are proven similar by bytes are right
as long as none that people looked at is faulty: their proof is no guess, and the few that are
audited would give an interval that says nothing.  Where one is, the proof is doubted, and they
are a sample like the other similar ones.  There is no estimate while pages of the sample are not
captured: runs go by host, and the first hosts are not a sample of all.

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

from pinakes.counts import count_of

AT_LEAST = 50
"""The least number of reviewed pairs."""

DRAWS = 1000
_CONFIDENCE = 0.95
_PRIOR = 0.5
_STRATA = _ALARMS, _SIMILAR, _PROVEN = range(3)
_FOUND = None, False, True


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPair:
    """A pair of the sample: `is_faulty` is None unless settled.

    `is_judged`: a person has judged it.  `counts`: once settled it may represent others: alarms
    and audited pairs do; a similar pair that a person picked does not.  `is_proven`: the machine's
    verdict is similar, and proven.
    """

    site: str
    weight: float
    is_alarm: bool
    is_faulty: bool | None = None
    is_judged: bool = False
    counts: bool = True
    is_proven: bool = False

    @property
    def stratum(self) -> int:
        """Its place among the strata."""
        return _ALARMS if self.is_alarm else _PROVEN if self.is_proven else _SIMILAR


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
    proven: int = 0
    """Pairs that count as right since they are proven, besides the reviewed ones."""
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
# Of the alarms, of what is similar, and of what is proven to be.
_Strata = tuple[_T, _T, _T]


def estimate(
    pairs: Iterable[SampledPair], *, seed: str, draws: int = DRAWS, not_captured: str | None = None
) -> Estimate:
    """The estimate; the same pairs and the same seed, the same figures.

    `not_captured` says which pages of the sample have no pair yet; None where all have one.
    """
    known = list(pairs)
    alarms = [pair for pair in known if pair.is_alarm]
    counted = [pair for pair in known if _counts(pair)]
    is_doubted = any(pair.is_proven and pair.is_faulty for pair in known)
    found = Estimate(
        pages=sum(pair.weight for pair in known),
        reviewed=len(counted),
        alarms_reviewed=sum(pair.is_alarm for pair in counted),
        alarms=len(alarms),
        proven=0 if is_doubted else sum(pair.is_proven and not _counts(pair) for pair in known),
    )
    lacks = [not_captured, *_lacks(found, known)]
    if any(lacks):
        return replace(found, wanting="; ".join(filter(None, lacks)))
    if not is_doubted:
        known = [replace(p, is_faulty=False, counts=True) if p.is_proven else p for p in known]
    columns = _columns(known)
    share = low = high = _share(tuple(_Sums(*map(sum, each)) for each in columns))
    mean_weight = sum(pair.weight for pair in counted) / len(counted)
    dice = random.Random(seed)  # noqa: S311 (nothing is kept secret by it)
    tail = round(draws * (1 - _CONFIDENCE) / 2)
    for draw in (_by_site(columns), _by_page(known)):
        drawn = [draw(dice) for _ in range(draws)]
        low = min(low, sorted(map(_share, drawn))[tail])
        added = (
            tuple(
                _with_prior(sums, dice, mean_weight) if is_doubted or number != _PROVEN else sums
                for number, sums in enumerate(strata)
            )
            for strata in drawn
        )
        high = max(high, sorted(map(_share, added))[-tail - 1])
    return replace(found, share=share, low=low, high=high)


def _lacks(found: Estimate, known: Sequence[SampledPair]) -> Iterator[str]:
    """What reviewers have still to do."""
    if found.reviewed + found.proven < AT_LEAST:
        verb = "counts" if found.reviewed == 1 else "count"
        yield f"{count_of(found.reviewed, 'reviewed pair')} {verb}; {AT_LEAST} are needed"
    left = found.alarms - found.alarms_reviewed
    if left:
        yield f"{left:,} of {count_of(found.alarms, 'alarm')} {_are(left)} not settled"
    for stratum, words in ((_SIMILAR, "similar pairs"), (_PROVEN, "pairs proven similar by bytes")):
        pairs = [pair for pair in known if pair.stratum == stratum]
        begun = [pair for pair in pairs if pair.is_judged and pair.counts]
        open_still = sum(pair.is_faulty is None for pair in begun)
        if open_still:
            judged = "that was judged" if len(begun) == 1 else "that were judged"
            of = f"{count_of(len(begun), 'audited pair')} {judged}"
            yield f"{open_still:,} of {of} {_are(open_still)} not settled"
        elif pairs and not any(map(_counts, pairs)):
            yield f"none of the {words} has been audited"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _counts(pair: SampledPair) -> bool:
    return pair.is_faulty is not None and pair.counts


def _columns(pairs: Sequence[SampledPair]) -> _Strata[_Columns]:
    """Of each stratum the weights of each site, sites in one order."""
    numbers: dict[str, int] = {}
    for pair in pairs:
        numbers.setdefault(pair.site, len(numbers))
    strata = tuple(_Columns(*([0.0] * len(numbers) for _ in _Columns._fields)) for _ in _STRATA)
    for pair in pairs:
        columns, number = strata[pair.stratum], numbers[pair.site]
        columns.all[number] += pair.weight
        if _counts(pair):
            columns.settled[number] += pair.weight
            columns.faulty[number] += pair.weight if pair.is_faulty else 0.0
    return strata[0], strata[1], strata[2]


def _by_site(strata: _Strata[_Columns]) -> Callable[[random.Random], _Strata[_Sums]]:
    """Draws sums of each stratum where a site counts so many times, in all alike."""

    def draw(dice: random.Random) -> _Strata[_Sums]:
        chances = [dice.expovariate(1.0) for _ in strata[0].all]
        alarms, similar, proven = (
            _Sums(*(sum(map(mul, chances, column)) for column in columns)) for columns in strata
        )
        return alarms, similar, proven

    return draw


def _by_page(pairs: Sequence[SampledPair]) -> Callable[[random.Random], _Strata[_Sums]]:
    """Draws sums of each stratum where a page counts so many times."""
    weights: dict[tuple[int, bool | None], list[float]] = {}
    for pair in pairs:
        found = pair.is_faulty if pair.counts else None
        weights.setdefault((pair.stratum, found), []).append(pair.weight)
    parts = {part: _chances_summed(weights.get(part, [])) for part in product(_STRATA, _FOUND)}

    def draw(dice: random.Random) -> _Strata[_Sums]:
        def sums(stratum: int) -> _Sums:
            unsettled, right, faulty = (parts[stratum, found](dice) for found in _FOUND)
            return _Sums(unsettled + right + faulty, right + faulty, faulty)

        return sums(_ALARMS), sums(_SIMILAR), sums(_PROVEN)

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

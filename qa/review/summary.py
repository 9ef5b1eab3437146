"""The figures of a run under review, so far.  Pure.

There is an estimate for each kind of pair (two views, two browsers): within one kind a page has
one pair, and weights add up to pages.

Agreement of reviewers is beyond chance: kappa, (observed - expected) / (1 - expected).
For two people, Cohen's kappa ("A coefficient of agreement for nominal scales", 1960): the expected
agreement comes from how often each of the two gives each answer.  For all together, Fleiss's
("Measuring nominal scale agreement among many raters", 1971), which for two judgements per pair
is Scott's pi (1955): it comes from the answers of all, since two people who share few pairs show
little of their habits.  A pair judged by more people counts once for each two of them.
Only judgements made before the other's was shown count, the last such of each person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from pinakes.qa.results import Verdict
from pinakes.qa.run.run_folder import Extent

from .estimate import Estimate, SampledPair, estimate
from .judgement import (
    FAULTS,
    BlindTo,
    Judgement,
    Label,
    Role,
    SettledLabel,
    Standing,
    newest_by_author,
    settled,
    standing,
)
from .reviewed_pair import ReviewedPair

BINS = 10


class PairCount(NamedTuple):
    """A number of pairs, and of the pages they represent."""

    pairs: int = 0
    weight: float = 0.0

    def plus(self, weight: float) -> PairCount:
        """With one pair more."""
        return PairCount(self.pairs + 1, self.weight + weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Figures of a run and of its review.

    `histogram` has `BINS` counts for each verdict, by confidence from 0 to 1.  `against` counts
    settled pairs by the machine's verdict and the settled label.  `faults` are those of pairs
    settled as faulty.
    """

    pairs: int
    verdicts: Mapping[str, PairCount]
    histogram: Mapping[str, Sequence[int]]
    queued: int
    queue_done: int
    standings: Mapping[str, int]
    reviewers: Mapping[str, int]
    against: Mapping[tuple[str, str], int]
    faults: Mapping[str, PairCount]
    agreement: Agreement
    agreement_by_two: Mapping[tuple[str, str], Agreement]
    estimates: Mapping[str, Estimate]
    extent: Extent | None = None
    """How much of the sample this is; None if unknown."""

    @property
    def counts(self) -> dict[str, int]:
        """The counts that a sign-off stores."""
        faulty = sum(n for (_, label), n in self.against.items() if label == "reject")
        left = {"pages_left": self.extent.pages_left} if self.extent is not None else {}
        return {
            **left,
            "pairs": self.pairs,
            "queued": self.queued,
            "settled": self.standings.get(Standing.SETTLED.value, 0),
            "unsure": self.standings.get(Standing.UNSURE.value, 0),
            "disputed": self.standings.get(Standing.DISPUTED.value, 0),
            "faulty": faulty,
        }


class ReviewProgress(NamedTuple):
    """Progress of the review: of the pairs to review, and of all."""

    queued: int
    queue_done: int
    unsure: int
    disputed: int


def progress(
    pairs: Sequence[ReviewedPair], judged: Mapping[bytes, Sequence[Judgement]]
) -> ReviewProgress:
    """The figures that the page shows after each judgement."""
    standings = [
        (pair, standing(judged.get(pair.key, ()), pair.judgements_needed)) for pair in pairs
    ]
    return ReviewProgress(
        queued=sum(pair.is_queued for pair in pairs),
        queue_done=sum(p.is_queued and one is Standing.SETTLED for p, one in standings),
        unsure=sum(one is Standing.UNSURE for _, one in standings),
        disputed=sum(one is Standing.DISPUTED for _, one in standings),
    )


def summarise(
    pairs: Sequence[ReviewedPair],
    judged: Mapping[bytes, Sequence[Judgement]],
    *,
    seed: str,
    extent: Extent | None = None,
) -> Summary:
    """All figures of a run; `judged` has the judgements of its pairs by row key.

    There is no estimate while pages of the sample are not captured.
    """
    judged_pairs = {pair.key: judged.get(pair.key, ()) for pair in pairs}
    found = {pair.key: settled(judged_pairs[pair.key], pair.judgements_needed) for pair in pairs}
    standings = {
        pair.key: standing(judged_pairs[pair.key], pair.judgements_needed) for pair in pairs
    }
    verdicts: dict[str, PairCount] = {verdict.value: PairCount() for verdict in Verdict}
    histogram = {verdict.value: [0] * BINS for verdict in Verdict}
    faults = dict.fromkeys(FAULTS, PairCount())
    against: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        result, weight = pair.judged.result, pair.judged.weight
        verdict = result.verdict.value
        verdicts[verdict] = verdicts[verdict].plus(weight)
        histogram[verdict][min(BINS - 1, max(0, int(result.confidence * BINS)))] += 1
        settlement = found[pair.key]
        if settlement is not None:
            against[verdict, settlement.label.value] += 1
            for fault in settlement.faults if settlement.is_faulty else ():
                faults[fault] = faults[fault].plus(weight)
    reviewers: Counter[str] = Counter()
    for judgements in judged_pairs.values():
        reviewers.update(newest.author for newest in newest_by_author(judgements).values())
    of_all, by_two = agreements(judged_pairs.values())
    queue = [pair for pair in pairs if pair.is_queued]
    return Summary(
        pairs=len(pairs),
        verdicts=verdicts,
        histogram=histogram,
        queued=len(queue),
        queue_done=sum(standings[pair.key] is Standing.SETTLED for pair in queue),
        standings=Counter(one.value for one in standings.values()),
        reviewers=dict(sorted(reviewers.items())),
        against=against,
        faults=faults,
        agreement=of_all,
        agreement_by_two=by_two,
        estimates={
            browsers: estimate(
                [_history(pair, found[pair.key], judged_pairs[pair.key]) for pair in group],
                seed=f"{seed} {browsers}",
                not_captured=extent.not_captured if extent is not None else None,
            )
            for browsers, group in groupby(
                sorted(pairs, key=lambda pair: (pair.browsers, pair.key)),
                key=lambda pair: pair.browsers,
            )
        },
        extent=extent,
    )


def _history(
    pair: ReviewedPair, settlement: SettledLabel | None, judged_pairs: Sequence[Judgement]
) -> SampledPair:
    return SampledPair(
        site=pair.site,
        weight=pair.judged.weight,
        is_alarm=pair.is_alarm,
        is_faulty=settlement.is_faulty if settlement is not None else None,
        is_judged=bool(judged_pairs),
        counts=pair.is_queued,
        is_proven=pair.is_proven and not pair.is_alarm,
    )


Answers = tuple[Label, Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Of two reviewers, or of all.

    `expected` is the share of agreement by chance; `kappa` is None if there is nothing to
    compare, or if all answers are the same, so that chance alone gives full agreement.
    """

    pairs: int
    observed: float | None
    expected: float | None
    kappa: float | None


def agreement(answers: Sequence[Answers]) -> Agreement:
    """Cohen's kappa of two people's answers on the same pairs, in the same order."""
    return _agreement(answers, _of_two)


def agreements(
    judged: Iterable[Sequence[Judgement]],
) -> tuple[Agreement, Mapping[tuple[str, str], Agreement]]:
    """Over the judgements of each pair: Fleiss's of all reviewers, Cohen's of each two by name."""
    answers: dict[tuple[str, str], list[Answers]] = {}
    names: dict[str, str] = {}
    for judgements in judged:
        blind = newest_by_author(filter(_is_blind, judgements))
        authors = sorted(blind)
        names.update({author: blind[author].author for author in authors})
        for number, one in enumerate(authors):
            for other in authors[number + 1 :]:
                answers.setdefault((one, other), []).append((blind[one].label, blind[other].label))
    by_two = {
        (names[one], names[other]): agreement(given)
        for (one, other), given in sorted(answers.items())
    }
    return _agreement([both for given in answers.values() for both in given], _of_all), by_two


def _is_blind(judgement: Judgement) -> bool:
    return judgement.role is Role.REVIEWER and BlindTo.OTHERS in judgement.blind_to


def _of_two(answers: Sequence[Answers]) -> float:
    """The agreement by chance of two who answer each as often as they do."""
    ones, others = Counter(one for one, _ in answers), Counter(other for _, other in answers)
    return sum(ones[label] * others[label] for label in ones) / len(answers) ** 2


def _of_all(answers: Sequence[Answers]) -> float:
    """The agreement by chance of any two who answer as often as all together do."""
    labels = Counter(label for both in answers for label in both)
    return sum(count * count for count in labels.values()) / (2 * len(answers)) ** 2


def _agreement(
    answers: Sequence[Answers], by_chance: Callable[[Sequence[Answers]], float]
) -> Agreement:
    if not answers:
        return Agreement(pairs=0, observed=None, expected=None, kappa=None)
    observed = sum(one is other for one, other in answers) / len(answers)
    expected = by_chance(answers)
    # Shares of counts: but for rounding, 1 - expected is 0 or far from it.
    is_defined = 1 - expected > 1e-9
    return Agreement(
        pairs=len(answers),
        observed=observed,
        expected=expected,
        kappa=(observed - expected) / (1 - expected) if is_defined else None,
    )

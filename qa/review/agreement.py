"""Agreement of reviewers beyond chance: kappa, (observed - expected) / (1 - expected).  Pure.

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

from .judgement import BlindTo, Judgement, Label, Role, newest_by_author

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

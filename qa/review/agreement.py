"""How far reviewers agree beyond chance: Cohen's kappa.  Pure.

Cohen, "A coefficient of agreement for nominal scales", 1960: (observed - expected) /
(1 - expected), where expected is what two who answer each as often as they do would have
in common by chance.  Kappa is of two people; over several pairs of them the observed and the
expected agreements are added up, each with its number of judgements.

Only judgements count that were made before the other's was shown, the last such of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .judgement import BlindTo, Judgement, Label, Role, newest_by_author

Answers = tuple[Label, Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Of two reviewers, or of several pairs of them.

    `expected` is the share of agreement by chance; `kappa` is None where there is nothing to
    compare, or where chance alone gives full agreement: all have said the same of all.
    """

    pairs: int
    observed: float | None
    expected: float | None
    kappa: float | None


def agreement(answers: Sequence[Answers]) -> Agreement:
    """Of what the same two people have said of the same pairs, in the same order."""
    return _pooled([answers])


def agreements(
    judged: Iterable[Sequence[Judgement]],
) -> tuple[Agreement, Mapping[tuple[str, str], Agreement]]:
    """Over the judgements of each pair: of all reviewers, and of each two by name."""
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
    return _pooled(list(answers.values())), by_two


def _is_blind(judgement: Judgement) -> bool:
    return judgement.role is Role.REVIEWER and BlindTo.OTHERS in judgement.blind_to


def _pooled(groups: Sequence[Sequence[Answers]]) -> Agreement:
    count = sum(map(len, groups))
    if not count:
        return Agreement(pairs=0, observed=None, expected=None, kappa=None)
    agreed = sum(one is other for group in groups for one, other in group)
    chance = sum(map(_by_chance, groups))
    # Counts of things, but for rounding: 1 - expected may be a hair's breadth from 0.
    is_defined = count - chance > 1e-9 * count
    return Agreement(
        pairs=count,
        observed=agreed / count,
        expected=chance / count,
        kappa=(agreed - chance) / (count - chance) if is_defined else None,
    )


def _by_chance(group: Sequence[Answers]) -> float:
    if not group:
        return 0.0
    ones, others = Counter(one for one, _ in group), Counter(other for _, other in group)
    return sum(ones[label] * others[label] for label in ones) / len(group)

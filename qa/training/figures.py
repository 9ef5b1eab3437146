"""Accuracy of a model: confusion matrix, false alarms, recall by kind; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from pinakes.qa.results import Verdict

_UNALTERED = "unaltered"


class JudgedPair(NamedTuple):
    """A labelled pair and its verdict; `likely` is the probability of dissimilar."""

    label: str
    kind: str
    likely: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Shares from 0 to 1, or None if there is nothing to count."""

    pairs: int
    right: float | None
    """The likelier of similar and dissimilar is what the label says."""
    right_decided: float | None
    """The same of the pairs whose verdict is not uncertain."""
    uncertain: float | None
    false_alarms: float | None
    """Unaltered pairs that are called dissimilar."""
    unaltered: int
    confusion: dict[str, dict[str, int]]
    """Label to verdict to pairs."""
    recall: dict[str, tuple[int, int]]
    """Kind to pairs that are rightly judged (by the likelier) and all of that kind."""

    def as_json(self) -> dict[str, Any]:
        """For a model's file, and for people."""
        return {**asdict(self), "recall": {kind: list(of) for kind, of in self.recall.items()}}


def figures(judged: Iterable[JudgedPair]) -> Figures:
    """Count."""
    all_of_them = list(judged)
    right = [one for one in all_of_them if is_right(one)]
    decided = [one for one in all_of_them if one.verdict is not Verdict.UNCERTAIN]
    unaltered = [one for one in all_of_them if one.kind.startswith(_UNALTERED)]
    confusion: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    recall: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in all_of_them:
        confusion[one.label][one.verdict.value] += 1
        recall[one.kind][0] += is_right(one)
        recall[one.kind][1] += 1
    alarms = [one for one in unaltered if one.verdict is Verdict.DISSIMILAR]
    return Figures(
        pairs=len(all_of_them),
        right=_share(right, all_of_them),
        right_decided=_share([one for one in decided if one.verdict.value == one.label], decided),
        uncertain=_share(
            [one for one in all_of_them if one.verdict is Verdict.UNCERTAIN], all_of_them
        ),
        false_alarms=_share(alarms, unaltered),
        unaltered=len(unaltered),
        confusion={label: dict(found) for label, found in sorted(confusion.items())},
        recall={kind: (found[0], found[1]) for kind, found in sorted(recall.items())},
    )


def is_right(judged: JudgedPair) -> bool:
    """Whether the likelier of the two is what the label says."""
    return (judged.likely > 0.5) == (judged.label == Verdict.DISSIMILAR.value)


def _share(some: Sequence[object], of: Sequence[object]) -> float | None:
    return round(len(some) / len(of), 4) if of else None

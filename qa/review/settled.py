"""What is settled of a pair, and what is still open.  Pure.

A lead's word settles.  Else agreement does, of as many reviewers as the pair goes to: the
only reviewer's word where one suffices.  Reviewers who disagree, and one who is unsure, are
a question for the lead; so is a lead who was unsure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .judgement import FAULTS, Judgement, Label, Role, newest_by_author


class By(str, Enum):
    """What a settlement rests on."""

    LEAD = "lead"
    AGREEMENT = "agreement"
    ONE = "one"


class Standing(str, Enum):
    """How far a pair is."""

    OPEN = "open"  # nobody has judged it
    WAITING = "waiting"  # it goes to two, and one has judged
    DISPUTED = "disputed"  # for the lead
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What counts for training and for the estimate: `accept` or `reject`, never `unsure`.

    `faults` are those that any of the agreeing has named.
    """

    label: Label
    by: By
    faults: tuple[str, ...] = ()

    @property
    def is_faulty(self) -> bool:
        return self.label is Label.REJECT


def settled(judgements: Iterable[Judgement], needed: int) -> Settled | None:
    """What is settled of a pair that goes to `needed` reviewers; None where nothing is."""
    newest = list(newest_by_author(judgements).values())
    leads = [judgement for judgement in newest if judgement.role is Role.LEAD]
    if leads:
        last = max(leads, key=lambda judgement: (judgement.at_ms, judgement.id))
        return _settlement([last], By.LEAD)
    if len(newest) < needed or len({judgement.label for judgement in newest}) != 1:
        return None
    return _settlement(newest, By.ONE if len(newest) == 1 else By.AGREEMENT)


def standing(judgements: Iterable[Judgement], needed: int) -> Standing:
    """How far a pair is."""
    known = list(judgements)
    if not known:
        return Standing.OPEN
    if settled(known, needed) is not None:
        return Standing.SETTLED
    newest = newest_by_author(known).values()
    if any(judgement.role is Role.LEAD for judgement in newest):
        return Standing.DISPUTED
    return Standing.WAITING if len(newest) < needed else Standing.DISPUTED


def _settlement(agreeing: list[Judgement], by: By) -> Settled | None:
    label = agreeing[0].label
    if label is Label.UNSURE:
        return None
    named = {fault for judgement in agreeing for fault in judgement.statement.faults}
    return Settled(label=label, by=by, faults=tuple(f for f in FAULTS if f in named))

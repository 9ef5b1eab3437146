"""Whether a pair is settled, or still open.  Pure.

A lead's judgement settles.  Otherwise agreement of as many reviewers as the pair needs, which may
be one; who is unsure is not one of them, and leaves the pair to somebody else: another reviewer,
or a lead.  Disagreement leaves it to a lead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .judgement import FAULTS, Judgement, Label, Role, newest_by_author


class By(str, Enum):
    """What settled a pair."""

    LEAD = "lead"
    AGREEMENT = "agreement"
    ONE = "one"


class Standing(str, Enum):
    """The state of a pair's review."""

    OPEN = "open"  # no judgement
    WAITING = "waiting"  # one of two judgements
    UNSURE = "unsure"  # somebody is unsure: open for a second opinion
    DISPUTED = "disputed"  # one accepts, one rejects: left to a lead
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The label for training and the estimate: `accept` or `reject`, never `unsure`.

    `faults` are those named by any of the agreeing judgements.
    """

    label: Label
    by: By
    faults: tuple[str, ...] = ()

    @property
    def is_faulty(self) -> bool:
        return self.label is Label.REJECT


def settled(judgements: Iterable[Judgement], needed: int) -> Settled | None:
    """The settlement of a pair that needs that many judgements; None if it is not settled."""
    newest = list(newest_by_author(judgements).values())
    leads = [judgement for judgement in newest if judgement.role is Role.LEAD]
    if leads:
        last = max(leads, key=lambda judgement: (judgement.at_ms, judgement.id))
        return _settlement([last], By.LEAD)
    sure = [judgement for judgement in newest if judgement.label is not Label.UNSURE]
    if len(sure) < needed or len({judgement.label for judgement in sure}) != 1:
        return None
    return _settlement(sure, By.ONE if len(sure) == 1 else By.AGREEMENT)


def standing(judgements: Iterable[Judgement], needed: int) -> Standing:
    """The state of a pair's review."""
    known = list(judgements)
    if not known:
        return Standing.OPEN
    if settled(known, needed) is not None:
        return Standing.SETTLED
    newest = newest_by_author(known).values()
    labels = {judgement.label for judgement in newest}
    if labels >= {Label.ACCEPT, Label.REJECT}:
        return Standing.DISPUTED
    is_over = len(newest) >= needed or any(one.role is Role.LEAD for one in newest)
    return Standing.UNSURE if is_over else Standing.WAITING


def _settlement(agreeing: list[Judgement], by: By) -> Settled | None:
    label = agreeing[0].label
    if label is Label.UNSURE:
        return None
    named = {fault for judgement in agreeing for fault in judgement.statement.faults}
    return Settled(label=label, by=by, faults=tuple(f for f in FAULTS if f in named))

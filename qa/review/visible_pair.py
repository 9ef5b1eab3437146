"""A pair as one viewer may see it.  Pure.

A pair that needs two reviewers hides each judgement from the other until both have judged; half
of these also hide the machine's verdict until the viewer has judged.  A lead sees all, to settle
disputes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .judgement import BlindTo, Judgement, Role, newest_by_author, same_author
from .reviewed_pair import HIDDEN_GROUP, ReviewedPair
from .settled import Settled, Standing, settled, standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The person who views; `author` is None without a name."""

    author: str | None = None
    role: Role = Role.REVIEWER


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePair:
    """What a viewer may know of a pair.

    `verdict` and `confidence` are None if hidden; `others` are the newest judgements of others,
    empty if hidden; `judged_by` is how many have judged.
    """

    pair: ReviewedPair
    verdict: str | None
    confidence: float | None
    own: Judgement | None
    others: tuple[Judgement, ...]
    others_hidden: bool
    judged_by: int
    standing: Standing
    settled: Settled | None
    is_todo: bool
    """Whether it waits for the viewer."""
    is_open: bool
    """Whether it waits for somebody, and the viewer has not judged it."""

    @property
    def faults(self) -> frozenset[str]:
        """The kinds of fault in the visible judgements."""
        judgements = [*self.others, *([self.own] if self.own is not None else [])]
        return frozenset(fault for judgement in judgements for fault in judgement.statement.faults)

    @property
    def order(self) -> tuple[float, ...]:
        """The worst first; pairs with a hidden verdict in a place that does not reveal it."""
        if self.verdict is None:
            return (HIDDEN_GROUP, self.pair.place)
        return self.pair.rank

    @property
    def blind_to(self) -> tuple[BlindTo, ...]:
        """What is hidden from a judgement that the viewer makes now."""
        blind = [BlindTo.OTHERS] if self.others_hidden else []
        return (*blind, BlindTo.MACHINE) if self.verdict is None else tuple(blind)


def visible_pair(
    pair: ReviewedPair, judgements: Sequence[Judgement], viewer: Viewer
) -> VisiblePair:
    """A pair with these judgements, as the viewer may see it."""
    newest = newest_by_author(judgements)
    me = same_author(viewer.author) if viewer.author is not None else None
    own = newest.get(me) if me is not None else None
    others = tuple(judgement for author, judgement in newest.items() if author != me)
    stands = standing(judgements, pair.judgements_needed)
    is_lead = viewer.role is Role.LEAD
    is_over = len(newest) >= pair.judgements_needed and (own is not None or me is None)
    others_hidden = pair.judgements_needed > 1 and not (is_lead or is_over)
    verdict_hidden = pair.hides_verdict and not (is_lead or own is not None or is_over)
    result = pair.judged.result
    return VisiblePair(
        pair=pair,
        verdict=None if verdict_hidden else result.verdict.value,
        confidence=None if verdict_hidden else result.confidence,
        own=own,
        others=() if others_hidden else others,
        others_hidden=others_hidden,
        judged_by=len(newest),
        standing=stands,
        settled=None if others_hidden else settled(judgements, pair.judgements_needed),
        is_todo=(
            stands in (Standing.DISPUTED, Standing.UNSURE)
            if is_lead
            else own is None and _asks_reviewers(pair, stands, newest.values())
        ),
        is_open=own is None
        and (
            stands in (Standing.DISPUTED, Standing.UNSURE)
            or (pair.is_queued and len(newest) < pair.judgements_needed)
        ),
    )


def _asks_reviewers(pair: ReviewedPair, stands: Standing, newest: Collection[Judgement]) -> bool:
    """Whether one more reviewer is asked: the pair's first ones, or a second opinion."""
    if stands is Standing.UNSURE:
        return all(judgement.role is not Role.LEAD for judgement in newest)
    return pair.is_queued and len(newest) < pair.judgements_needed

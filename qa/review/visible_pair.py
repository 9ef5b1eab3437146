"""A pair as one viewer may see it, and filters of the list of pairs.  Pure.

A pair that needs two reviewers hides each judgement from the other until both have judged; half
of these also hide the machine's verdict until the viewer has judged.  A lead sees all, to settle
disputes.

Filters reveal nothing hidden: a pair whose verdict is hidden matches no verdict and no
confidence, and faults named by others match only for viewers who may see them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from pinakes.errors import InputRefused
from pinakes.qa.results import Verdict

from .judgement import (
    FAULTS,
    BlindTo,
    Judgement,
    Role,
    SettledLabel,
    Standing,
    newest_by_author,
    same_author,
    settled,
    standing,
)
from .reviewed_pair import HIDDEN_GROUP, ReviewedPair


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
    settled: SettledLabel | None
    is_todo: bool
    """Whether it waits for the viewer."""
    is_open: bool
    """Whether it waits for a reviewer, and the viewer has not judged it."""

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


HIDDEN = "hidden"
"""In place of a verdict: pairs whose verdict is hidden."""

_TEXT_CHARACTERS = 500


STATES: Mapping[str, Callable[[VisiblePair], bool]] = {
    "todo": lambda pair: pair.is_todo,
    "open": lambda pair: pair.is_open,
    "unreviewed": lambda pair: pair.standing is Standing.OPEN,
    "reviewed": lambda pair: pair.standing is not Standing.OPEN,
    "mine": lambda pair: pair.own is not None,
    "waiting": lambda pair: pair.standing is Standing.WAITING,
    "unsure": lambda pair: pair.standing is Standing.UNSURE,
    "disputed": lambda pair: pair.standing is Standing.DISPUTED,
    "settled": lambda pair: pair.standing is Standing.SETTLED,
    "audit": lambda pair: pair.pair.in_audit and pair.verdict is not None,
}
"""By NAME, the meaning of `state=NAME`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFilter:
    """Empty or None: any.  Valid once built by `parse_filter`."""

    verdict: str = ""
    state: str = ""
    site: str = ""
    browsers: str = ""
    fault: str = ""
    text: str = ""
    low: float | None = None
    high: float | None = None

    def matches(self, pair: VisiblePair) -> bool:
        """Whether a pair matches."""
        return (
            self._verdict_fits(pair)
            and (not self.state or STATES[self.state](pair))
            and (not self.site or pair.pair.site == self.site)
            and (not self.browsers or pair.pair.browsers == self.browsers)
            and (not self.fault or self.fault in pair.faults)
            and (not self.text or self.text.casefold() in pair.pair.judged.result.url.casefold())
        )

    def _verdict_fits(self, pair: VisiblePair) -> bool:
        confidence = pair.confidence
        if self.low is not None and (confidence is None or confidence < self.low):
            return False
        if self.high is not None and (confidence is None or confidence > self.high):
            return False
        if not self.verdict:
            return True
        return pair.verdict is None if self.verdict == HIDDEN else self.verdict == pair.verdict


def parse_filter(query: Mapping[str, str]) -> PairFilter:
    """The filter of a query; unknown parameters are ignored.

    Raises:
        InputRefused: an unknown value.
    """
    text = {
        name: query.get(name, "")[:_TEXT_CHARACTERS]
        for name in ("verdict", "state", "site", "browsers", "fault", "text")
    }
    _one_of("verdict", text["verdict"], [*(verdict.value for verdict in Verdict), HIDDEN])
    _one_of("state", text["state"], STATES)
    _one_of("fault", text["fault"], FAULTS)
    return PairFilter(**text, low=_share(query, "low"), high=_share(query, "high"))


FILTER_NAMES = tuple(field.name for field in fields(PairFilter))


def _one_of(name: str, value: str, known: Iterable[str]) -> None:
    if value and value not in (names := list(known)):
        raise InputRefused(f"{name} is {value!r:.100}; it must be one of {', '.join(names)}")


def _share(query: Mapping[str, str], name: str) -> float | None:
    given = query.get(name, "")
    if not given:
        return None
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputRefused(f"{name} is {given!r:.100}; it must be between 0 and 1")
    return share

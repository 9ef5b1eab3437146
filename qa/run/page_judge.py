"""Captures a page from all sides, and compares and judges each pair of them.

    sides ─▶ captures ─▶ compared ─▶ proven by bytes?
                                     else in one browser to the pixel, both sides again
                                     else the reference again, and a model

Each side captures a page once, however many pairs it is in; more often where looks have to decide.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pinakes.qa.compare.pairs import (
    Changes,
    Comparison,
    compare_pair,
    features,
    other_bytes,
    reasons,
)
from pinakes.qa.compare.pixels import SCALE
from pinakes.qa.compare.steady import SteadyDifference, compare_steadily
from pinakes.qa.judging.model import NAMES, Model, load_model, model_name
from pinakes.qa.judging.page_kind import kinds_in_words
from pinakes.qa.results import UNSEEN, JudgedPair, PageView, PairResult, Verdict, side_name
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Outcome, Rect
from pinakes.qa.views.side import Side, Visit, verdict_given_gap
from pinakes.qa.views.stored import comparable_with_stored

from .decision import MODEL as PROVEN
from .decision import (
    Decision,
    given_height,
    judge_across,
    judge_outcomes,
    judge_steady,
    judge_visits,
    prove,
)
from .page_visits import PageVisits
from .plan import Pair

_MUCH = 0.2
_MORE_LOOKS = 2


class _Judged(NamedTuple):
    comparison: Comparison
    decision: Decision
    changes: Changes
    milliseconds: int


class PageJudge:
    """Judges pages one after the other.  Not for several threads."""

    def __init__(
        self,
        sides: Sequence[Side],
        folder: Path,
        *,
        run: str,
        prove_first: bool = False,
        masked: Sequence[Rect] = (),
        models: Sequence[Model] = (),
    ) -> None:
        """Images go to `folder`; `masked` are regions of every page that are not compared.

        With `prove_first` a page's current state is not captured if all its requests before
        would be answered the same now.

        `models` replace those of the same names that ship with the package.
        """
        self._sides = {side_name(side.kind, side.browser): side for side in sides}
        self._folder = folder
        self._run = run
        self._prove_first = prove_first
        self._masked = masked
        own = {model.name: model for model in models}
        self._models = {name: own.get(name) or load_model(name) for name in NAMES}

    def judge(self, drawn: SampledPage, pairs: Sequence[Pair]) -> list[JudgedPair]:
        """Judge these pairs of a page; sides that are in none of them do not capture it."""
        visits = PageVisits(self._sides, drawn, self._folder)
        for pair in pairs if self._prove_first else ():
            if pair.are_generations:
                is_alone = all(other == pair or set(other).isdisjoint(pair) for other in pairs)
                visits.skip_if_same(*pair, is_for_one_pair=is_alone)
        return [
            JudgedPair(result=self._judge(drawn, pair, visits), weight=drawn.weight)
            for pair in pairs
        ]

    def _judge(self, drawn: SampledPage, pair: Pair, visits: PageVisits) -> PairResult:
        visits.visit_at_once(pair)
        reference, other = self._comparable(pair, visits)
        comparison, took = self._compare(reference, other)
        decision = self._prove(pair, comparison, reference, other)
        changes = comparison.changes
        if decision is None:
            judged = self._by_visits(pair, comparison, reference, other, visits)
            comparison, decision, changes = judged.comparison, judged.decision, judged.changes
            took += judged.milliseconds
        return PairResult(
            run=self._run,
            url=drawn.page.url,
            date=visits.moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            capture_key=drawn.page.row_key.hex(),
            reference=self._view(pair.reference, reference),
            other=self._view(pair.other, other),
            verdict=decision.verdict,
            confidence=decision.confidence,
            model=decision.model,
            features=features(comparison),
            reasons=_in_words(
                decision,
                comparison,
                reference,
                other,
                is_drawn_alike=not pair.is_two_browsers,
            ),
            changes=changes,
            milliseconds=took,
        )

    def _by_visits(
        self,
        pair: Pair,
        comparison: Comparison,
        reference: Visit,
        other: Visit,
        visits: PageVisits,
    ) -> _Judged:
        """Payloads do not count in the verdict: if they prove nothing, a URL that changes on each
        load, or a body that an access system rewrites, is no harm.  Milliseconds are those of
        comparing again.
        """
        took, others = 0, comparison.payloads
        comparison = replace(comparison, payloads=None, lost=None)
        snapshots = reference.loaded.snapshot, other.loaded.snapshot
        decision = judge_outcomes(*snapshots, have_images=comparison.image is not None)
        again, places = None, None
        if decision is None and pair.is_drawn_alike:
            steady, again = self._compare_steadily(pair, reference, other, visits)
            if steady is not None:
                is_masked = bool(self._masks(reference))
                decision = judge_steady(steady, *snapshots, is_masked=is_masked)
                places = _rects(steady)
        if decision is None and again is None and reasons(comparison):
            again = visits.visit_again(pair.reference)
        if again is not None:
            comparison, took = self._compare(reference, other, again)
            comparison = replace(comparison, payloads=None, lost=None)
        if decision is None:
            decision = judge_visits(
                self._models[model_name(pair.browsers)], features(comparison), *snapshots
            )
        decision = self._given_height(pair, decision, reference, other)
        if reference.log is not None and other.log is not None and pair.is_across:
            browser = self._sides[pair.other].browser
            decision = judge_across(decision, reference.log, other.log, browser)
        if others and pair.has_access:
            # Images and the like are not rewritten: the access system has another capture.
            decision = decision.saying(other_bytes(others))
        decision = self._as_of_today(pair, decision, visits)
        found = comparison.element.changes if pair.is_two_browsers else ()
        elements = tuple(change.rect.sides for change in found)
        changes = places or elements or comparison.changes
        return _Judged(comparison, decision, changes, took)

    def _given_height(
        self, pair: Pair, decision: Decision, reference: Visit, other: Visit
    ) -> Decision:
        extents = [
            (visit.loaded.snapshot.page_height or 0, SCALE * visit.loaded.pixels.shape[0])
            for visit in (reference, other)
            if visit.loaded.pixels is not None
        ]
        if not extents:
            return decision
        height, seen = max(extents, key=lambda extent: extent[0] - extent[1])
        return given_height(decision, seen, height, are_elements_known=not pair.is_of_stored)

    def _compare_steadily(
        self, pair: Pair, reference: Visit, other: Visit, visits: PageVisits
    ) -> tuple[SteadyDifference | None, Visit | None]:
        """What differs each time, and the second look at the reference, if there was one."""
        masked = self._masks(reference)
        found = compare_steadily([reference.loaded], [other.loaded], masked=masked)
        if found is None or found.is_nothing:
            return found, None
        sides = [reference], [other]
        for _ in range(_MORE_LOOKS):
            for name, side in zip(pair, sides, strict=True):
                side.append(visits.visit_again(name))
            shown = [[visit.loaded for visit in side if _is_shown(visit)] for side in sides]
            found = compare_steadily(*shown, masked=masked)
            if found is None or found.is_nothing or not found.restless:
                break  # a page that is never the same is looked at once more
        return found, sides[0][1]

    def _masks(self, reference: Visit) -> tuple[Rect, ...]:
        return (*self._masked, *reference.loaded.snapshot.masked)

    def _comparable(self, pair: Pair, visits: PageVisits) -> tuple[Visit, Visit]:
        """Both captures; if one is a stored screenshot, limited to what compares with it."""
        reference, other = visits.at(pair.reference), visits.at(pair.other)
        if not pair.is_of_stored:
            return reference, other
        stored, loaded = comparable_with_stored(reference.loaded, other.loaded)
        return reference._replace(loaded=stored), other._replace(loaded=loaded)

    def _as_of_today(self, pair: Pair, decision: Decision, visits: PageVisits) -> Decision:
        """Live pages and stored screenshots may differ because the page has changed."""
        for name in (pair.reference, pair.other):
            gap = visits.at(name).loaded.snapshot.taken - visits.moment
            verdict, why = verdict_given_gap(self._sides[name].kind, decision.verdict, gap)
            if why is not None:
                decision = decision.saying(why)._replace(verdict=verdict)
        return decision

    def _compare(
        self, reference: Visit, other: Visit, again: Visit | None = None
    ) -> tuple[Comparison, int]:
        """The comparison, and the milliseconds that it took."""
        started = time.monotonic()
        comparison = compare_pair(
            reference.loaded,
            other.loaded,
            again=again.loaded if again is not None else None,
            masked=self._masks(reference),
        )
        return comparison, round(1000 * (time.monotonic() - started))

    def _prove(
        self, pair: Pair, comparison: Comparison, before: Visit, after: Visit
    ) -> Decision | None:
        """The proof, for two generations in one browser."""
        if not pair.are_generations or before.log is None or after.log is None:
            return None
        outcomes = {before.loaded.snapshot.outcome, after.loaded.snapshot.outcome}
        complete = outcomes == {Outcome.COMPLETE}
        return prove(comparison, before.log, after.log, complete=complete)

    def _view(self, name: str, visit: Visit) -> PageView:
        side, snapshot = self._sides[name], visit.loaded.snapshot
        misses = visit.log.misses if visit.log is not None else ()
        return PageView(
            kind=side.kind,
            browser=side.browser,
            browser_version=snapshot.browser_version,
            outcome=snapshot.outcome,
            milliseconds=visit.milliseconds,
            image=snapshot.image.name if snapshot.image is not None else None,
            reasons=(*snapshot.reasons, *((visit.note,) if visit.note else ())),
            missed=tuple(dict.fromkeys(exchange.url for exchange in misses if exchange.is_seed)),
        )


def _in_words(
    decision: Decision,
    comparison: Comparison,
    reference: Visit,
    other: Visit,
    *,
    is_drawn_alike: bool,
) -> tuple[str, ...]:
    """Why: what was harmed, of proven harm also whether it is to be seen, and what differs."""
    harm = list(decision.harm)
    if decision.model == PROVEN:
        comparison = replace(comparison, payloads=None)  # the proof says more of them
        if decision.verdict is Verdict.DISSIMILAR:
            seen = compare_steadily([reference.loaded], [other.loaded])
            if seen is not None and seen.is_nothing:
                harm.append(UNSEEN)
    strips = (visit.loaded.snapshot.strips for visit in (reference, other))
    left_out = dict.fromkeys(strip for side in strips for strip in side)
    said = (f"a strip that asks for consent is left out: {strip}" for strip in left_out)
    found = reasons(comparison, is_drawn_alike=is_drawn_alike)
    if not found and decision.verdict is not Verdict.SIMILAR:
        found = reasons(comparison)
    return (*harm, *found, *said, *kinds_in_words(other.loaded))


def _is_shown(visit: Visit) -> bool:
    return visit.loaded.snapshot.outcome is Outcome.COMPLETE and visit.loaded.pixels is not None


def _rects(steady: SteadyDifference) -> Changes:
    """Its places; none where most of the page has moved, and only alignment shows what is new."""
    if steady.share > _MUCH:
        return ()
    return tuple(place.rect.sides for place in steady.places)

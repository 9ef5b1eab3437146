"""Captures a page from all sides, and compares and judges each pair of them.

    sides ─▶ captures ─▶ compared ─▶ proven by bytes? ─▶ else the reference again, and a model

Each side captures a page once, however many pairs it is in.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pinakes.qa.compare.pairs import (
    Comparison,
    compare_pair,
    feature_names,
    features,
    other_bytes,
    reasons,
)
from pinakes.qa.compare.pixels import SCALE
from pinakes.qa.judging.image_statistics import statistics_of
from pinakes.qa.judging.model import NAMES, Model, load_model, model_name
from pinakes.qa.judging.page_kind import page_kinds
from pinakes.qa.replay.page_log import TEXT_LIMIT_CHARACTERS, Exchange
from pinakes.qa.results.pair_key import side_name
from pinakes.qa.results.pair_line import JudgedPair
from pinakes.qa.results.pair_result import PairResult, View
from pinakes.qa.sample.draw import Drawn
from pinakes.qa.snapshot import Outcome, Rect
from pinakes.qa.views.comparable_with_stored import comparable_with_stored
from pinakes.qa.views.gap import verdict_given_gap
from pinakes.qa.views.side import LookResult, Side

from .decision import Decision, judge_looks, prove
from .page_looks import PageLooks
from .plan import GENERATIONS, STORED, Pair, is_access, kind_of

_BEFORE, _CURRENT = map(kind_of, GENERATIONS)


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

    def judge(self, drawn: Drawn, pairs: Sequence[Pair]) -> list[JudgedPair]:
        """Judge these pairs of a page; sides that are in none of them do not capture it."""
        looks = PageLooks(self._sides, drawn, self._folder)
        return [
            JudgedPair(result=self._judge(drawn, pair, looks), weight=drawn.weight)
            for pair in pairs
        ]

    def _judge(self, drawn: Drawn, pair: Pair, looks: PageLooks) -> PairResult:
        if self._prove_first and self._are_generations(pair):
            looks.skip_if_same(*pair)
        looks.look_at_once(pair)
        reference, other = self._comparable(pair, looks)
        comparison, took = self._compare(reference, other)
        decision = self._prove(pair, comparison, reference, other)
        if decision is None:
            comparison, decision, more = self._by_looks(pair, comparison, reference, other, looks)
            took += more
        return PairResult(
            run=self._run,
            url=drawn.page.url,
            date=looks.moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            capture_key=drawn.page.row_key.hex(),
            reference=self._view(pair.reference, reference),
            other=self._view(pair.other, other),
            verdict=decision.verdict,
            confidence=decision.confidence,
            model=decision.model,
            features=_numbers(comparison),
            reasons=(*decision.harm, *reasons(comparison), *_kinds(other)),
            changes=_in_pixels(comparison),
            milliseconds=took,
        )

    def _by_looks(
        self,
        pair: Pair,
        comparison: Comparison,
        reference: LookResult,
        other: LookResult,
        looks: PageLooks,
    ) -> tuple[Comparison, Decision, int]:
        """The comparison, the verdict, and the milliseconds of comparing again.

        Payloads do not count in the verdict: if they prove nothing, a URL that changes on each
        load, or a body that an access system rewrites, is no harm.
        """
        took, others = 0, comparison.payloads
        comparison = replace(comparison, payloads=None, lost=None)
        if reasons(comparison):
            again = looks.look_again(pair.reference)
            comparison, took = self._compare(reference, other, again)
            comparison = replace(comparison, payloads=None, lost=None)
        decision = judge_looks(
            self._model(pair),
            _numbers(comparison),
            reference.loaded.snapshot,
            other.loaded.snapshot,
        )
        if others and any(is_access(self._sides[name].kind) for name in pair):
            # Images and the like are not rewritten: the access system has another capture.
            decision = decision._replace(harm=(*decision.harm, other_bytes(others)))
        return comparison, self._as_of_today(pair, decision, looks), took

    def _comparable(self, pair: Pair, looks: PageLooks) -> tuple[LookResult, LookResult]:
        """Both captures; beside a stored screenshot, limited to what it can be compared with."""
        reference, other = looks.at(pair.reference), looks.at(pair.other)
        if self._sides[pair.reference].kind != STORED:
            return reference, other
        stored, loaded = comparable_with_stored(reference.loaded, other.loaded)
        return reference._replace(loaded=stored), other._replace(loaded=loaded)

    def _as_of_today(self, pair: Pair, decision: Decision, looks: PageLooks) -> Decision:
        """Live pages and stored screenshots may differ because the page has changed."""
        for name in (pair.reference, pair.other):
            gap = looks.at(name).loaded.snapshot.taken - looks.moment
            verdict, why = verdict_given_gap(self._sides[name].kind, decision.verdict, gap)
            if why is not None:
                decision = decision._replace(verdict=verdict, harm=(*decision.harm, why))
        return decision

    def _compare(
        self, reference: LookResult, other: LookResult, again: LookResult | None = None
    ) -> tuple[Comparison, int]:
        """The comparison, and the milliseconds that it took."""
        started = time.monotonic()
        comparison = compare_pair(
            reference.loaded,
            other.loaded,
            again=again.loaded if again is not None else None,
            masked=(*self._masked, *reference.loaded.snapshot.masked),
        )
        return comparison, round(1000 * (time.monotonic() - started))

    def _prove(
        self, pair: Pair, comparison: Comparison, before: LookResult, after: LookResult
    ) -> Decision | None:
        """The proof, for two generations in one browser."""
        if not self._are_generations(pair) or before.log is None or after.log is None:
            return None
        outcomes = {before.loaded.snapshot.outcome, after.loaded.snapshot.outcome}
        complete = outcomes == {Outcome.COMPLETE}
        return prove(comparison, before.log, after.log, complete=complete)

    def _are_generations(self, pair: Pair) -> bool:
        """Whether this is before and after, in one browser."""
        sides = [self._sides[name] for name in pair]
        one_browser = sides[0].browser == sides[1].browser
        return one_browser and [side.kind for side in sides] == [_BEFORE, _CURRENT]

    def _model(self, pair: Pair) -> Model:
        browsers = {self._sides[name].browser for name in pair if self._sides[name].browser}
        return self._models[model_name(browsers)]

    def _view(self, name: str, looked: LookResult) -> View:
        side, snapshot = self._sides[name], looked.loaded.snapshot
        misses = looked.log.misses if looked.log is not None else ()
        return View(
            kind=side.kind,
            browser=side.browser,
            browser_version=snapshot.browser_version,
            outcome=snapshot.outcome,
            milliseconds=looked.milliseconds,
            image=snapshot.image.name if snapshot.image is not None else None,
            reasons=(*snapshot.reasons, *((looked.note,) if looked.note else ())),
            missed=tuple(dict.fromkeys(exchange.url for exchange in misses if _is_seed(exchange))),
        )


def _numbers(comparison: Comparison) -> dict[str, float]:
    return dict(zip(feature_names(), features(comparison), strict=True))


def _is_seed(exchange: Exchange) -> bool:
    """Whether a crawler could fetch the missed resource by its URL.

    Not if the URL is too long for the log, which has only its beginning.
    """
    is_web = exchange.url.lower().startswith(("http://", "https://"))
    return is_web and exchange.method == "GET" and len(exchange.url) < TEXT_LIMIT_CHARACTERS


def _kinds(looked: LookResult) -> Iterator[str]:
    """The kind of the page by itself, whatever it is compared with."""
    pixels = looked.loaded.pixels
    image = statistics_of(pixels) if pixels is not None else None
    for kind in page_kinds(looked.loaded.snapshot, image):
        yield f"{kind.kind.value}: {kind.reason}"


def _in_pixels(comparison: Comparison) -> tuple[tuple[int, int, int, int], ...]:
    """The changes found in scaled images, in pixels of the original image."""
    if comparison.image is None:
        return ()
    return tuple(
        (SCALE * x, SCALE * y, SCALE * width, SCALE * height)
        for x, y, width, height in comparison.image.changes
    )

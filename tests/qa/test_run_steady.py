"""Two sides in one browser: how often they are looked at, and what the verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import comparing  # noqa: F401
import numpy as np
import pytest
from drawn_pages import page, seen
from snapshots import SHOWN

from pinakes.catalog.pages import PageCapture
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import Pixels
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.results import PairResult, Verdict
from pinakes.qa.run.decision import STEADY
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import Pair
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Fontless, Outcome, Rect, Snapshot
from pinakes.qa.views.side import Visit

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
DRAWN = SampledPage(
    page=PageCapture(
        urlkey="org,example)/",
        second="20200102030405",
        url=SHOWN.url,
        media_type="text/html",
        row_key=b"key",
    ),
    weight=1.0,
    is_always=True,
)


def image(seed: int = 1, *, dark: tuple[slice, slice] | None = None) -> Pixels:
    drawn = page(seed=seed)
    if dark is not None:
        drawn[dark] = 0
    return seen(drawn)


PLAIN = image()
ICON = image(dark=(slice(400, 408), slice(600, 608)))
POPUP = image(dark=(slice(100, 400), slice(300, 700)))


class Turning:
    """A side whose looks are these, by turns."""

    def __init__(
        self, kind: str, *images: Pixels, browser: str = "b", snapshot: Snapshot = SHOWN
    ) -> None:
        self.kind = kind
        self.browser = browser
        self.looks = 0
        self._images = images
        self._snapshot = snapshot

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        pixels = self._images[self.looks % len(self._images)]
        self.looks += 1
        return Visit(LoadedSnapshot(snapshot=self._snapshot, pixels=pixels), None, 1)


def judged(sides: Sequence[Turning], folder: Path, *, masked: tuple[Rect, ...] = ()) -> PairResult:
    judge = PageJudge(sides, folder, run="r", masked=masked)
    [pair] = judge.judge(DRAWN, [Pair(*judge._sides)])
    return pair.result


def before(*images: Pixels, snapshot: Snapshot = SHOWN) -> Turning:
    return Turning("replay:before", *images, snapshot=snapshot)


def current(*images: Pixels, snapshot: Snapshot = SHOWN) -> Turning:
    return Turning("replay:current", *images, snapshot=snapshot)


def test_what_is_the_same_is_looked_at_once(tmp_path: Path) -> None:
    sides = before(PLAIN), current(PLAIN)
    result = judged(sides, tmp_path)
    assert (result.verdict, result.model, result.reasons) == (Verdict.SIMILAR, STEADY, ())
    assert [side.looks for side in sides] == [1, 1]


@pytest.mark.parametrize("kind", ["replay:current", "access:http://w.example/c"])
def test_an_icon_that_is_gone_each_time_is_an_alarm_with_its_place(
    kind: str, tmp_path: Path
) -> None:
    sides = before(PLAIN), Turning(kind, ICON)
    result = judged(sides, tmp_path)
    assert (result.verdict, result.model) == (Verdict.DISSIMILAR, STEADY)
    assert result.reasons[0] == "looks different: 1 place, the largest 8 × 8 px at 600, 400"
    assert result.changes == ((600, 400, 8, 8),)
    assert [side.looks for side in sides] == [2, 2]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [((PLAIN, POPUP), (PLAIN,)), ((POPUP, PLAIN), (PLAIN,)), ((PLAIN,), (POPUP, PLAIN))],
)
def test_what_comes_and_goes_by_itself_is_no_alarm(
    mine: tuple[Pixels, ...], theirs: tuple[Pixels, ...], tmp_path: Path
) -> None:
    result = judged((before(*mine), current(*theirs)), tmp_path)
    assert (result.verdict, result.model) == (Verdict.SIMILAR, STEADY)


def test_what_comes_and_goes_is_said(tmp_path: Path) -> None:
    result = judged((before(POPUP, PLAIN), current(PLAIN)), tmp_path)
    assert result.reasons[0].startswith("differs from itself in 4.")


def test_a_page_that_is_never_the_same_is_left_to_a_model(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    every = [dice.integers(0, 255, PLAIN.shape, np.uint8) for _ in range(4)]
    result = judged((before(*every[:2]), current(*every[2:])), tmp_path)
    assert result.model.startswith("same-browser ")


def test_text_that_is_gone_each_time_is_named(tmp_path: Path) -> None:
    mine = replace(SHOWN, text="one two three")
    theirs = replace(SHOWN, text="one three four")
    result = judged((before(PLAIN, snapshot=mine), current(PLAIN, snapshot=theirs)), tmp_path)
    assert result.verdict is Verdict.DISSIMILAR
    assert result.reasons[:2] == ("words gone: 1: two", "words new: 1: four")


def test_text_without_blanks_does_not_fill_the_reasons(tmp_path: Path) -> None:
    mine, theirs = (replace(SHOWN, text=letter * 5000) for letter in "文字")
    result = judged((before(PLAIN, snapshot=mine), current(PLAIN, snapshot=theirs)), tmp_path)
    assert result.reasons[:2] == (f"words gone: 1: {'文' * 40}", f"words new: 1: {'字' * 40}")


def test_words_of_masked_elements_do_not_count_alone(tmp_path: Path) -> None:
    sides = (
        before(PLAIN, snapshot=replace(SHOWN, text="it is 12:01")),
        current(ICON, snapshot=replace(SHOWN, text="it is 12:02")),
    )
    masked = (Rect(x=590, y=390, width=40, height=40),)
    assert judged(sides, tmp_path, masked=masked).verdict is Verdict.SIMILAR


def test_boxes_in_place_of_letters_are_never_called_the_same(tmp_path: Path) -> None:
    boxes = replace(SHOWN, fontless=Fontless(letters=9, total=10, scripts=("Cjk",)))
    result = judged((before(PLAIN, snapshot=boxes), current(PLAIN, snapshot=boxes)), tmp_path)
    assert result.verdict is Verdict.UNCERTAIN


def test_what_is_not_proven_is_not_said_to_be_unseen_harm(tmp_path: Path) -> None:
    class Unsent(Turning):
        def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
            return super().visit(url, moment, folder)._replace(log=PageLog(name="p", exchanges=()))

    result = judged((Unsent("replay:before", PLAIN), Unsent("replay:current", PLAIN)), tmp_path)
    assert result.verdict is Verdict.UNCERTAIN
    assert result.reasons == ("before deduplication no resource of it was sent whole",)


def test_a_second_look_that_is_cut_off_does_not_count(tmp_path: Path) -> None:
    class CutOff(Turning):
        def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
            looked = super().visit(url, moment, folder)
            if self.looks == 1:
                return looked
            snapshot = replace(looked.loaded.snapshot, outcome=Outcome.CUT_OFF)
            return looked._replace(loaded=replace(looked.loaded, snapshot=snapshot, pixels=None))

    result = judged((before(PLAIN), CutOff("replay:current", ICON)), tmp_path)
    assert (result.verdict, result.model) == (Verdict.DISSIMILAR, STEADY)


@pytest.mark.parametrize("other", [
    Turning("live", ICON), Turning("replay:current", ICON, browser="c"),
])  # fmt: skip
def test_other_pairs_are_left_to_models(other: Turning, tmp_path: Path) -> None:
    result = judged((before(PLAIN), other), tmp_path)
    assert result.model.startswith(("same-browser ", "across-browsers "))

"""Views in a run: opened and closed, and judged as what they are."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import comparing  # noqa: F401
import cv2
import numpy as np
import pytest

from pinakes.catalog.pages import PageCapture
from pinakes.errors import ConfigError
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.results import PairResult, Verdict
from pinakes.qa.run.opening import AsWideAsStored, SideOpener, window_of
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import Pair, RunPlan
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Outcome, Pictures, Rect, Snapshot, Styles
from pinakes.qa.views.side import CHANGED, CHANGED_SHOT, Side, Visit

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
URL = "http://example.org/"
PLAN = RunPlan(run="r", act_time_ms=1)
DRAWN = SampledPage(
    page=PageCapture(urlkey="org,example)/", second="20200102030405", url=URL,
                     media_type="text/html", row_key=b"key"),
    weight=1.0, is_always=True,
)  # fmt: skip


def picture(rows: int, seed: int = 1) -> Any:
    coarse = np.random.default_rng(seed).integers(0, 255, (rows // 20, 20, 3), np.uint8)
    return cv2.resize(coarse, (400, rows), interpolation=cv2.INTER_NEAREST)


class Shown:
    """A side that always shows the same; its image is `pixels` at half its size."""

    browser = "b"

    def __init__(self, kind: str, pixels: Any, **of_snapshot: Any) -> None:
        self.kind = kind
        self.looks = 0
        told = {
            "url": URL, "browser": "b", "browser_version": "1", "taken": MOMENT, "clock": None,
            "seed": None, "outcome": Outcome.COMPLETE, "viewport_width": 800,
            "viewport_height": 0, "text": "words of the page",
        }  # fmt: skip
        self._seen = LoadedSnapshot(snapshot=Snapshot(**{**told, **of_snapshot}), pixels=pixels)

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        self.looks += 1
        return Visit(self._seen, None, 1)


def judged(reference: Side, other: Side, folder: Path) -> PairResult:
    judge = PageJudge([reference, other], folder, run="r")
    names = list(judge._sides)
    [pair] = judge.judge(DRAWN, [Pair(names[0], names[1])])
    return pair.result


def test_of_a_stored_screenshot_only_what_it_shows_is_compared(tmp_path: Path) -> None:
    whole = picture(1000)
    stored = Shown("stored", whole[:400], viewport_height=800, text="")
    other = Shown(
        "replay:current", whole, page_height=2000,
        pictures=Pictures(total=1, zero_size=1, broken=1, broken_urls=()),
        styles=Styles(sheets=1, unreadable_sheets=0, rules=9),
    )  # fmt: skip
    result = judged(stored, other, tmp_path)
    said = "images have the first 800 of 2,000 px; the rest is not compared"
    assert (result.verdict, result.reasons) == (Verdict.SIMILAR, (said,))
    assert result.reference.kind == "stored"
    changed = Shown("replay:current", picture(1000, seed=2))
    assert judged(stored, changed, tmp_path).verdict is not Verdict.SIMILAR


@pytest.mark.parametrize(
    ("days", "verdict", "says_so"),
    [(0, Verdict.DISSIMILAR, False), (2, Verdict.DISSIMILAR, False), (3, Verdict.UNCERTAIN, True)],
)
def test_the_live_web_of_much_later_is_no_fault(
    days: int, verdict: Verdict, says_so: bool, tmp_path: Path
) -> None:
    replayed = Shown("replay:current", picture(400))
    live = Shown("live", None, taken=MOMENT + timedelta(days=days), outcome=Outcome.FAILED, text="")
    result = judged(replayed, live, tmp_path)
    assert result.verdict is verdict
    assert (CHANGED in result.reasons) is says_so


@pytest.mark.parametrize(
    ("width", "height", "window"),
    [
        (1920, 1080, (1920, 1080)),
        (1920, 0, (1920, 1080)),
        (0, 0, (1280, 900)),
        (100_000, 10, (1280, 900)),
        (1, 0, (1, 1)),
        (800, 90_000, (800, 4000)),
    ],
)
def test_the_window_of_a_screenshot(width: int, height: int, window: tuple[int, int]) -> None:
    viewport = window_of(width, height)
    assert (viewport.width, viewport.height) == window


def test_a_side_as_wide_as_the_screenshot(tmp_path: Path) -> None:
    opened: list[Viewport] = []
    closed: list[int] = []

    def open_side(viewport: Viewport, stack: ExitStack) -> Side:
        opened.append(viewport)
        stack.callback(closed.append, viewport.width)
        return Shown("replay:current", None)

    stored = Shown("stored", None)
    side = AsWideAsStored("replay:current", "b", stored, open_side)  # type: ignore[arg-type]
    as_side: Side = side
    assert opened == []
    for width in (800, 900, 800, 1000, 1100):
        stored._seen = Shown("stored", None, viewport_width=width)._seen
        as_side.visit(URL, MOMENT, tmp_path)
    assert [viewport.width for viewport in opened] == [800, 900, 1000, 1100]
    assert closed == [800]
    side.close()
    side.close()
    assert closed == [800, 900, 1000, 1100]


def test_a_side_that_does_not_open_leaves_nothing_behind(tmp_path: Path) -> None:
    closed: list[int] = []

    def fails(viewport: Viewport, stack: ExitStack) -> Side:
        stack.callback(closed.append, viewport.width)
        raise ConfigError("not installed")

    side = AsWideAsStored("live", "b", Shown("stored", None), fails)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="not installed"):
        side.visit(URL, MOMENT, tmp_path)
    assert closed == [800]


class Pointed:
    """A browser that is pointed somewhere, and never looks."""

    name = "b"


def test_views_are_opened_and_closed(tmp_path: Path) -> None:
    ports: list[int] = []

    def browser(proxy: Proxy) -> Any:
        ports.append(proxy.port)
        return Pointed()

    with ExitStack() as stack:
        views = SideOpener(PLAN, _NoStores(), tmp_path, stack)  # type: ignore[arg-type]
        own = stack.enter_context(ExitStack())
        named = ["access:http://w.example/c", "live", "live", "before"]
        sides = [views.open(view, browser, own) for view in named]
        kinds = ["access:http://w.example/c", "live", "live", "replay:before"]
        assert [side.kind for side in sides] == kinds
        assert [side.browser for side in sides] == ["b"] * 4
        with pytest.raises(ConfigError, match="access system"):
            views.open("access:nothing", browser, own)
        assert all(map(_listens, sides))
        own.close()  # what is one browser's ends with it
        assert not any(map(_listens, sides))
    assert len(set(ports)) == 4
    assert list(tmp_path.iterdir()) == []  # of the live web nothing came


def _listens(side: Any) -> bool:
    """Whether the port of a side is open: another's may have its number by now."""
    return bool(side._session._server.fileno() != -1)


class _NoStores:
    rows = archive = None


@pytest.mark.parametrize("view", ["current", "before", "access:http://w.example/c", "live"])
def test_a_width_that_is_closed_leaves_no_port(
    view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crawl with screenshots of many widths, one after the other."""
    for name in ("chromium", "chromedriver"):  # never started
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/false\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    plan = RunPlan(run="r", act_time_ms=1, reference="stored", other=view)
    sides: list[Side] = []
    with ExitStack() as stack:
        opener = SideOpener(plan, _NoStores(), tmp_path / "run", stack)  # type: ignore[arg-type]
        stored, wide = opener.open_all()
        assert stored.kind == "stored"
        assert isinstance(wide, AsWideAsStored)
        for width in range(800, 800 + 8):
            sides.append(wide._side(Viewport(width=width)))
            assert [side for side in sides if _listens(side)] == sides[-3:]
    assert not any(map(_listens, sides))


def test_what_the_selectors_of_the_reference_cover_is_not_compared(tmp_path: Path) -> None:
    whole = picture(1000)
    other = whole.copy()
    other[200:300, 100:500] = 0
    masked = (Rect(x=200, y=400, width=800, height=200),)
    changed = Shown("replay:current", other)
    plain = judged(Shown("access:http://a/", whole), changed, tmp_path)
    assert plain.features["image_changed_tiles"] > 0
    covered = judged(Shown("access:http://a/", whole, masked=masked), changed, tmp_path)
    assert covered.features["image_changed_tiles"] == 0


def test_a_screenshot_of_another_time_is_no_proof_of_a_fault(tmp_path: Path) -> None:
    years = timedelta(days=900)
    for taken, verdict in ((MOMENT, Verdict.DISSIMILAR), (MOMENT - years, Verdict.UNCERTAIN)):
        stored = Shown("stored", picture(1000), text="", taken=taken)
        other = Shown("replay:current", picture(1000, seed=2))
        result = judged(stored, other, tmp_path)
        assert result.verdict is verdict
        assert (CHANGED_SHOT in result.reasons) is (taken is not MOMENT)

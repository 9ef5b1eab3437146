"""A look at a browser of tests: what went wrong is said, at whatever moment it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pinakes.errors import ConfigError
from pinakes.qa.browsers.page_scripts import Limits, Pins, observing, script
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.snapshot_builder import SnapshotBuilder
from pinakes.qa.browsers.tab import BrowserGone, PageEvents, PageRefused, Viewport
from pinakes.qa.snapshot import Image, Outcome, Rect, Snapshot

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
LIMITS = Limits(load_s=2, quiet_s=1)
SHORT = Limits(load_s=0.3, quiet_s=0.3)
OVERLAY = {
    "tag": "div", "identity": "", "text": "cookies", "viewport_share": 0.5,
    "rect": {"x": 0, "y": 0, "width": 9, "height": 9},
}  # fmt: skip


class Tab:
    """Answers our scripts; `states` are those of the load, the last of which stays."""

    version = "1"
    process_session = 0
    can_pin = True

    def __init__(
        self,
        *states: dict[str, Any],
        overlay: dict[str, Any] | None = None,
        masked: object = None,
        wrong: Sequence[str] = (),
    ) -> None:
        self._states = list(states)
        self._overlay = overlay
        self._masked = masked
        self._wrong = wrong
        self.tried: list[list[str]] = []
        self.told = PageEvents()

    def begin(self, pins: str) -> None: ...

    def go(self, url: str) -> None: ...

    def run(self, function: str, *arguments: object) -> Any:
        if function == script("readiness"):
            return self._states.pop(0) if len(self._states) > 1 else self._states[0]
        if function == observing():
            return self._observed()
        if function == script("selectors"):
            self.tried.append(list(arguments[0]))  # type: ignore[call-overload]
            return [selector for selector in arguments[0] if selector in self._wrong]  # type: ignore[attr-defined]
        if function == script("masked"):
            return self._masked
        return self._overlay if function == script("overlay") else None

    def _observed(self) -> object:
        return {"title": "title", "page_height": 50}

    def shoot(self, width: int, height: int) -> bytes:
        return b"image"

    def events(self) -> PageEvents:
        return self.told

    def close(self) -> None: ...


def look(
    tab: Tab,
    keep: Callable[[bytes], Image],
    masked: Sequence[str] = (),
    limits: Limits = LIMITS,
) -> Snapshot:
    blank = Snapshot(
        url="http://a.example/", browser="b", browser_version="1", taken=MOMENT, clock=None,
        seed=None, outcome=Outcome.CUT_OFF, viewport_width=9, viewport_height=9,
    )  # fmt: skip
    return SnapshotBuilder(
        tab, blank, limits=limits, viewport=Viewport(), keep=keep, masked=masked
    ).take()


LOADED = {
    "blank": False, "error": False, "complete": True, "asked": 1, "pictures": 0,
    "uri": "http://a.example/",
}  # fmt: skip


def full(_: bytes) -> Image:
    raise OSError(28, "No space left on device")


def refused(_: bytes) -> Image:
    raise PageRefused("5 bytes that are no PNG")


class Measured(Tab):
    """Notes the height of images, and from where pictures are decoded."""

    def __init__(self, *states: dict[str, Any]) -> None:
        super().__init__(*states)
        self.noted: list[object] = []

    def run(self, function: str, *arguments: object) -> Any:
        if function == observing():
            self.noted.append(arguments[0]["decoding_from"])  # type: ignore[index]
            return {"page_height": 9_000}
        return super().run(function, *arguments)

    def shoot(self, width: int, height: int) -> bytes:
        self.noted.append(height)
        return b"image"


@pytest.mark.parametrize(
    ("is_known", "is_complete", "noted", "asked"),
    [
        (None, True, [4_000, 4_000], 0),
        (False, True, [4_000, 4_000], 1),
        (True, True, [1 << 53, 768], 1),
        (True, False, [4_000, 4_000], 0),  # what was not shown to the end is not known
    ],
)
def test_of_what_is_known_the_first_screen_is_enough(
    is_known: bool | None, is_complete: bool, noted: list[int], asked: int
) -> None:
    tab, calls = Measured(LOADED | {"complete": is_complete}), []

    def ask() -> bool:
        calls.append(len(tab.noted))
        return bool(is_known)

    blank = Snapshot(
        url="http://a.example/", browser="b", browser_version="1", taken=MOMENT, clock=None,
        seed=None, outcome=Outcome.CUT_OFF, viewport_width=9, viewport_height=9,
    )  # fmt: skip
    image = Image(name="n", sha256="s", width=9, height=9)
    SnapshotBuilder(
        tab, blank, limits=replace(LIMITS, height=4_000, across=False),
        viewport=Viewport(width=1024, height=768), keep=lambda _: image,
        is_known=ask if is_known is not None else None,
    ).take()  # fmt: skip
    assert (tab.noted, calls) == (noted, [0] * asked)


@pytest.mark.parametrize(
    ("keep", "why"),
    [
        (full, "image not saved: No space left on device"),
        (refused, "no image: 5 bytes that are no PNG"),
    ],
)
def test_why_there_is_no_image(keep: Callable[[bytes], Image], why: str) -> None:
    snapshot = look(Tab(LOADED), keep)
    assert (snapshot.outcome, snapshot.image) == (Outcome.COMPLETE, None)
    assert snapshot.reasons == (why,)
    assert snapshot.title == "title"


def test_why_there_is_no_second_image() -> None:
    kept: list[bytes] = []

    def first_only(png: bytes) -> Image:
        kept.append(png)
        return full(png) if len(kept) > 1 else Image(name="n", sha256="s", width=9, height=9)

    snapshot = look(Tab(LOADED, overlay=OVERLAY), first_only)
    assert snapshot.overlay is not None
    assert snapshot.overlay.rect == Rect(x=0, y=0, width=9, height=9)
    assert (snapshot.image is not None, snapshot.image_without_overlay) == (True, None)
    assert snapshot.reasons == ("image not saved: No space left on device",)


def test_why_a_load_failed_may_be_told_after_that_it_did() -> None:
    error = {**LOADED, "error": True, "uri": "chrome-error://chromewebdata/"}

    class Late(Tab):
        asked = 0

        def events(self) -> PageEvents:
            self.asked += 1
            return replace(self.told, failure="net::ERR_FAILED") if self.asked > 2 else self.told

    snapshot = look(Late(error), full)
    assert (snapshot.outcome, snapshot.reasons) == (Outcome.FAILED, ("net::ERR_FAILED",))


def test_where_nobody_tells_why_the_address_must_do() -> None:
    error = {**LOADED, "error": True, "uri": "chrome-error://chromewebdata/"}
    snapshot = look(Tab(error), full)
    assert (snapshot.outcome, snapshot.reasons) == (
        Outcome.FAILED,
        ("chrome-error://chromewebdata/",),
    )


def shown(_: bytes) -> Image:
    return Image(name="n", sha256="s", width=9, height=9)


def test_where_what_is_masked_lies() -> None:
    rect = {"x": 1, "y": 2, "width": 3, "height": 4}
    snapshot = look(Tab(LOADED, masked=[rect]), shown, masked=["#ad"])
    assert (snapshot.masked, snapshot.reasons) == ((Rect(x=1, y=2, width=3, height=4),), ())


@pytest.mark.parametrize(
    "nonsense",
    [5, "words", ["words"], [{"x": 1}], [{"x": 1, "y": 2, "width": 3, "height": None}], {"x": 1}],
)
def test_a_page_that_tells_nonsense_of_what_is_masked_is_shown(nonsense: object) -> None:
    snapshot = look(Tab(LOADED, masked=nonsense), shown, masked=["#ad"])
    assert (snapshot.outcome, snapshot.masked) == (Outcome.COMPLETE, ())
    assert snapshot.image is not None
    [reason] = snapshot.reasons
    assert reason.startswith("masked regions unknown: ")


@pytest.mark.parametrize(
    "forged",
    [{}, {"x": 1}, {"blank": False}, {**LOADED, "more": 1}, [], "words", 5],
    ids=repr,
)
def test_a_page_that_forges_where_its_load_stands_ends_nothing(forged: Any) -> None:
    """Where scripts of ours run in the world of the page's: WebKitGTK."""
    snapshot = look(Tab(forged), shown, limits=SHORT)
    assert (snapshot.outcome, snapshot.reasons) == (Outcome.FAILED, ("no answer within 0.3 s",))


@pytest.mark.parametrize("forged", [{}, {"x": 1}, "words"], ids=repr)
def test_a_page_that_forges_it_once_it_has_loaded_is_shown(forged: Any) -> None:
    class Forging(Tab):
        def run(self, function: str, *arguments: object) -> Any:
            if function == script("scroll"):
                self._states = [forged]
            return super().run(function, *arguments)

    snapshot = look(Forging(LOADED), shown)
    assert (snapshot.outcome, snapshot.reasons) == (Outcome.COMPLETE, ())
    assert snapshot.image is not None


@pytest.mark.parametrize(
    "forged",
    [[], "words", {"title": 5}, {"more": 1}, {"url": "http://other.example/"},
     {"image_without_overlay": {"name": "../x", "sha256": "s", "width": 1, "height": 1}}],
    ids=repr,
)  # fmt: skip
def test_a_page_that_tells_nonsense_of_itself_is_shown(forged: object) -> None:
    class Forging(Tab):
        def _observed(self) -> object:
            return forged

    snapshot = look(Forging(LOADED), shown, masked=["#ad"])
    assert (snapshot.url, snapshot.title) == ("http://a.example/", "")
    assert (snapshot.image is not None, snapshot.image_without_overlay) == (True, None)
    [reason] = snapshot.reasons
    assert reason.startswith("the page's state is malformed: ")


def test_a_page_that_refuses_to_be_observed_is_shown() -> None:
    class Refusing(Tab):
        def _observed(self) -> object:
            raise PageRefused("TypeError: not iterable")

    snapshot = look(Refusing(LOADED), shown)
    assert (snapshot.outcome, snapshot.image is not None) == (Outcome.COMPLETE, True)
    assert snapshot.reasons == ("the page refused: TypeError: not iterable",)


PINS = Pins(clock=MOMENT)


def test_selectors_are_tried_once_and_the_wrong_ones_named(tmp_path: Path) -> None:
    """Before anything is asked for."""
    selectors = ("h1", "p{", "#ad", "..")
    tab = Tab(LOADED, wrong=selectors[1::2])
    begun: list[str] = []

    def begin() -> None:
        begun.append("page")

    session = Session("b", lambda _: tab, viewport=Viewport(), limits=LIMITS, masked=selectors)
    with session, pytest.raises(ConfigError, match=r"b: not a CSS selector: 'p\{', '\.\.'"):
        session.capture("http://a.example/", pins=PINS, folder=tmp_path, on_blank=begin)
    assert (tab.tried, begun) == ([list(selectors)], [])
    assert session._scratch is None


def test_right_selectors_are_tried_once_a_browser(tmp_path: Path) -> None:
    tab = Tab(LOADED, masked=[])
    with Session("b", lambda _: tab, viewport=Viewport(), limits=LIMITS, masked=["h1"]) as session:
        for _ in range(2):
            seen = session.capture("http://a.example/", pins=PINS, folder=tmp_path)
            assert seen.outcome is Outcome.COMPLETE
        assert tab.tried == [["h1"]]


def test_a_browser_that_goes_while_selectors_are_tried_is_replaced(tmp_path: Path) -> None:
    class Going(Tab):
        def run(self, function: str, *arguments: object) -> Any:
            raise BrowserGone("gone")

    tabs = [Going(LOADED), Tab(LOADED, masked=[])]
    with Session(
        "b", lambda _: tabs.pop(0), viewport=Viewport(), limits=LIMITS, masked=["h1"]
    ) as session:
        seen = session.capture("http://a.example/", pins=PINS, folder=tmp_path)
        assert (seen.outcome, session.started) == (Outcome.COMPLETE, 2)


def test_the_blank_page_is_told_once_whatever_browser_shows_it(tmp_path: Path) -> None:
    """One that died between two pages is replaced before a page is begun."""
    begun: list[int] = []

    class Dead(Tab):
        def begin(self, pins: str) -> None:
            raise BrowserGone("died")

    tabs = [Dead(LOADED), Tab(LOADED)]
    with Session("b", lambda _: tabs.pop(0), viewport=Viewport(), limits=LIMITS) as session:
        session.capture(
            "http://a.example/",
            pins=PINS,
            folder=tmp_path,
            on_blank=lambda: begun.append(len(tabs)),
        )
    assert begun == [0]

"""A look at a browser of tests: what went wrong is said, at whatever moment it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from pinakes.qa.browsers.looking import Limits, Look, script
from pinakes.qa.browsers.tab import PageEvents, PageRefused, Viewport
from pinakes.qa.snapshot import Image, Outcome, Rect, Snapshot

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
LIMITS = Limits(load_s=2, quiet_s=1)
OVERLAY = {
    "tag": "div", "identity": "", "text": "cookies", "viewport_share": 0.5,
    "rect": {"x": 0, "y": 0, "width": 9, "height": 9},
}  # fmt: skip


class Tab:
    """Answers our scripts; `states` are those of the load, the last of which stays."""

    version = "1"
    process_session = 0
    can_pin = True

    def __init__(self, *states: dict[str, Any], overlay: dict[str, Any] | None = None) -> None:
        self._states = list(states)
        self._overlay = overlay
        self.told = PageEvents()

    def begin(self, pins: str) -> None: ...

    def go(self, url: str) -> None: ...

    def run(self, function: str, *_: object) -> Any:
        if function == script("readiness"):
            return self._states.pop(0) if len(self._states) > 1 else self._states[0]
        if function == script("observe"):
            return {"title": "title", "page_height": 50}
        return self._overlay if function == script("overlay") else None

    def shoot(self, width: int, height: int) -> bytes:
        return b"image"

    def events(self) -> PageEvents:
        return self.told

    def close(self) -> None: ...


def look(tab: Tab, keep: Callable[[bytes], Image]) -> Snapshot:
    blank = Snapshot(
        url="http://a.example/", browser="b", browser_version="1", taken=MOMENT, clock=None,
        seed=None, outcome=Outcome.CUT_OFF, viewport_width=9, viewport_height=9,
    )  # fmt: skip
    return Look(tab, blank, limits=LIMITS, viewport=Viewport(), keep=keep).take()


LOADED = {"blank": False, "complete": True, "asked": 1, "pictures": 0, "uri": "http://a.example/"}


def full(_: bytes) -> Image:
    raise OSError(28, "No space left on device")


def refused(_: bytes) -> Image:
    raise PageRefused("5 bytes that are no PNG")


@pytest.mark.parametrize(
    ("keep", "why"),
    [
        (full, "the image is not kept: No space left on device"),
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
    assert snapshot.reasons == ("the image is not kept: No space left on device",)


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

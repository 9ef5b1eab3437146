"""One capture of one page: what is waited for, and what is read from the page, in which order.

The same for every browser.  `session` is the shell, and kills a browser that takes too long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pinakes.errors import MalformedRecord
from pinakes.qa.browsers.fonts import fontless
from pinakes.qa.browsers.page_scripts import Limits, observing, script
from pinakes.qa.browsers.tab import PageEvents, PageRefused, Tab, Viewport
from pinakes.qa.snapshot import Image, Outcome, Rect, Snapshot, value_of

_PAUSE_S = 0.05
_QUIET_S = 0.2
_MOST_REDIRECTS = 20
_TRIES = 3
_ABORTED = frozenset({"net::ERR_ABORTED", "NS_BINDING_ABORTED"})
# Fields of the results of readiness.js and observe.js.
_STATE = frozenset({"uri", "blank", "error", "complete", "asked", "pictures"})
_OBSERVED = frozenset(
    {
        *("final_url", "title", "media_type", "page_width", "page_height", "text", "text_length"),
        *("boxes", "looks", "boxes_total", "frames", "frames_total", "media", "media_total"),
        *("shapes", "shapes_total", "decoded"),
        *("resources", "resources_total", "pictures", "styles"),
    }
)
_NO_PAGES = frozenset({"application/pdf", "application/octet-stream"})


class SnapshotBuilder:
    """Fills a snapshot step by step, so that a capture that is cut off keeps what it has."""

    def __init__(
        self,
        tab: Tab,
        blank: Snapshot,
        *,
        limits: Limits,
        viewport: Viewport,
        keep: Callable[[bytes], Image],
        masked: Sequence[str] = (),
        without_strips: bool = False,
        is_known: Callable[[], bool] | None = None,
    ) -> None:
        """`masked` are CSS selectors of elements that are not compared.

        `without_strips`: strips that ask for consent are taken away first.

        `is_known` is asked once a complete page has requested what it requests: if so, the image
        is that of the first screen, and no picture is decoded.
        """
        self.snapshot = blank
        self._tab = tab
        self._limits = limits
        self._viewport = viewport
        self._keep = keep
        self._masked = list(masked)
        self._without_strips = without_strips
        self._is_known = is_known
        self._began = time.monotonic()
        self._timings: list[tuple[str, int]] = []

    def take(self) -> Snapshot:
        """Load, scroll, observe, take the image.  Raises what a `Tab` raises."""
        try:
            outcome, reasons = self._load(self._set_out())
            self._mark("loaded")
            self._say(outcome, *reasons)
            if outcome in {Outcome.COMPLETE, Outcome.STILL_LOADING}:
                self._see()
        finally:
            self.snapshot = replace(self.snapshot, timings_ms=tuple(self._timings))
        self._take_events(self._tab.events())
        return self.snapshot

    def _say(self, outcome: Outcome, *reasons: str) -> None:
        self.snapshot = replace(
            self.snapshot, outcome=outcome, reasons=(*self.snapshot.reasons, *reasons)
        )

    def _mark(self, name: str) -> None:
        self._timings.append((name, round((time.monotonic() - self._began) * 1000)))

    def _set_out(self) -> str | None:
        """Begin to load; why the browser refused, if it did so at once."""
        try:
            self._tab.go(self.snapshot.url)
        except PageRefused as error:
            return str(error)
        return None

    def _load(self, refused: str | None) -> tuple[Outcome, list[str]]:
        until = time.monotonic() + self._limits.load_s
        quiet = Quiet()
        state: dict[str, Any] = {"blank": True}
        while time.monotonic() < until:
            state = self._state() or state
            events = self._tab.events()  # after the state, whose reason they give
            settled = quiet.since(state) >= _QUIET_S
            ended = _ended(state, events, settled=settled)
            if ended is not None:
                return ended
            if refused is not None and settled:
                return Outcome.FAILED, [refused]
            if not state["blank"] and state.get("complete") and settled:
                return Outcome.COMPLETE, []
            time.sleep(_PAUSE_S)
        if state["blank"]:
            return Outcome.FAILED, [f"no answer within {self._limits.load_s:g} s"]
        self._try("() => window.stop()")
        if not state.get("complete"):
            return Outcome.STILL_LOADING, [f"still loading after {self._limits.load_s:g} s"]
        return Outcome.COMPLETE, ["the page never stopped sending requests"]

    def _state(self) -> dict[str, Any] | None:
        """The state of the load; None between two pages, or if the page forges it."""
        try:
            state = self._tab.run(script("readiness"))
        except PageRefused:
            return None
        return state if isinstance(state, dict) and state.keys() == _STATE else None

    def _try(self, function: str, *arguments: object) -> Any:
        """Call a function in a page that may be leaving for another; None if each try failed."""
        for _ in range(_TRIES):
            try:
                return self._tab.run(function, *arguments)
            except PageRefused as error:
                last = error
                time.sleep(_PAUSE_S)
        self._say(self.snapshot.outcome, f"the page refused: {last}"[:300])
        return None

    def _see(self) -> None:
        self._try(script("scroll"), self._limits.height, self._limits.scroll_pause_ms)
        self._calm()
        self._mark("scrolled")
        is_known = (
            self._is_known is not None
            and self.snapshot.outcome is Outcome.COMPLETE
            and self._is_known()
        )
        if is_known:
            self._limits = replace(self._limits, height=self._viewport.height)
        if self._without_strips:
            self._take_strips()
        overlay = self._try(script("overlay"), False)
        limits = self._limits.of_observation(is_known=is_known)
        observed = self._try(observing(), limits)
        if observed is not None:  # otherwise refused, and a reason says so
            self._note_observed(observed, overlay)
        if self.snapshot.media_type in _NO_PAGES:
            self._say(Outcome.NOT_A_PAGE, f"{self.snapshot.media_type}")
            return
        if self._masked:
            self._note_masked()
        self._mark("observed")
        image = self._shot()  # adds a reason if there is none
        self.snapshot = replace(self.snapshot, image=image)
        if self.snapshot.overlay is not None:
            self._try(script("overlay"), True)
            image = self._shot()
            self.snapshot = replace(self.snapshot, image_without_overlay=image)
        self._mark("shot")

    def _note_observed(self, observed: object, overlay: object) -> None:
        try:
            seen = observation(self.snapshot, observed, overlay)
            self.snapshot = replace(seen, fontless=fontless(seen.text))
        except MalformedRecord as error:
            self._say(self.snapshot.outcome, f"the page's state is malformed: {error}"[:300])

    def _take_strips(self) -> None:
        found = self._try(script("strips"))
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            self.snapshot = replace(self.snapshot, strips=tuple(found))

    def _note_masked(self) -> None:
        found = self._try(script("masked"), self._masked, self._limits.boxes)
        try:
            rects = tuple(value_of(Rect, rect) for rect in found or ())
            self.snapshot = replace(self.snapshot, masked=rects)
        except (MalformedRecord, TypeError) as error:
            self._say(self.snapshot.outcome, f"masked regions unknown: {error}"[:300])

    def _calm(self) -> None:
        """Wait a while for what scrolling has requested."""
        until = time.monotonic() + self._limits.quiet_s
        quiet = Quiet()
        while time.monotonic() < until:
            state = self._state()
            if state is not None and not state["pictures"] and quiet.since(state) >= _QUIET_S:
                return
            time.sleep(_PAUSE_S)

    def _shot(self) -> Image | None:
        height = self.snapshot.page_height or self._viewport.height
        # A page may be lower than the viewport, or claim a height of 0.
        height = min(max(height, self._viewport.height), self._limits.height)
        try:
            return self._keep(self._tab.shoot(self._viewport.width, height))
        except PageRefused as error:
            self._say(self.snapshot.outcome, f"no image: {error}"[:300])
        except OSError as error:  # a full disk does not end a run
            self._say(self.snapshot.outcome, f"image not saved: {error.strerror}")
        return None

    def _take_events(self, events: PageEvents) -> None:
        counted = {
            "console": events.console,
            "console_total": events.console_total,
            "media_type": self.snapshot.media_type or events.media_type,
        }
        if events.resources:
            counted |= {
                "resources": events.resources[: self._limits.resources],
                "resources_total": events.resources_total,
            }
        self.snapshot = replace(
            self.snapshot,
            reasons=(*self.snapshot.reasons, *events.notes),
            **counted,  # type: ignore[arg-type]
        )


def observation(snapshot: Snapshot, observed: object, overlay: object) -> Snapshot:
    """A snapshot with the results of observe.js and overlay.js.

    Raises:
        MalformedRecord: not their format: the page interfered.
    """
    if not isinstance(observed, dict) or observed.keys() - _OBSERVED:
        raise MalformedRecord("no observation")
    empty = {
        "url": "",
        "browser": "",
        "browser_version": "",
        "taken": snapshot.taken.isoformat(),
        "clock": None,
        "seed": None,
        "outcome": snapshot.outcome.value,
        "viewport_width": 0,
        "viewport_height": 0,
    }
    seen = value_of(Snapshot, {**empty, **observed, "overlay": overlay})
    return replace(snapshot, **{name: getattr(seen, name) for name in (*observed, "overlay")})


def _ended(
    state: dict[str, Any], events: PageEvents, *, settled: bool
) -> tuple[Outcome, list[str]] | None:
    """The outcome of a load that ended without a page; None if it did not."""
    if events.download is not None:
        return Outcome.NOT_A_PAGE, [f"download: {events.download}"]
    if events.documents > _MOST_REDIRECTS:
        return Outcome.FAILED, ["redirect loop"]
    # The reason may be reported a little later than the end of the load.
    if state.get("error") and (events.failure is not None or settled):
        return Outcome.FAILED, [events.failure or str(state.get("uri"))[:300]]
    if state["blank"] and events.status in {204, 205}:
        return Outcome.NOT_A_PAGE, [f"status {events.status}: a response without a page"]
    if state["blank"] and events.failure is not None and settled:
        if events.failure in _ABORTED:
            # Chromium reports this of a download first, Firefox of a 204 response.
            kind = events.media_type or "an answer"
            return Outcome.NOT_A_PAGE, [f"{kind} is not a page: {events.failure}"]
        return Outcome.FAILED, [events.failure]
    return None


class Quiet:
    """Takes the states of a load that readiness.js gives."""

    def __init__(self) -> None:
        self._last: object = None
        self._since_s = 0.0

    def since(self, state: dict[str, Any]) -> float:
        """Seconds since the state last changed."""
        now = (state.get("asked"), state.get("pictures"), state.get("uri"))
        if now != self._last:
            self._last, self._since_s = now, time.monotonic()
        return time.monotonic() - self._since_s

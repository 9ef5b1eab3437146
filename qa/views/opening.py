"""Sides of the kinds that are not our own replay, opened for a run, and closed with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from pathlib import Path

from pinakes import __version__
from pinakes.profile import Stores
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.tab import Viewport
from pinakes.qa.replay.certificates import Authority

from .access import AccessSide, access_session
from .access_urls import AccessUrls
from .live import LiveSide, Pauses, live_session
from .recording import Recording
from .side import LookResult, Side
from .stored import StoredScreenshots, StoredSide

RECORDED = "live"
"""The folder in that of a run where what came of the live web is kept."""
_MOST_WIDTHS = 3
_WIDEST, _HIGHEST = 4_000, 4_000
Opened = Callable[[str, int], Session]
"""A browser pointed at host and port."""


class OtherViews:
    """Opens them; what is shared by several browsers is opened once.

    The stack given here closes what all share; the one given with a browser what is its own.

    Raises:
        MissingExtra: without the extra `qa`.
    """

    def __init__(
        self, stores: Stores, folder: Path, stack: ExitStack, *, collection: str | None = None
    ) -> None:
        """Screenshots are those of the collection; None: of any."""
        self._stores = stores
        self._collection = collection
        self._folder = folder
        self._stack = stack
        self._recording: Recording | None = None

    @cached_property
    def _authority(self) -> Authority:
        """Made for the first side that wants it: most runs have none."""
        authority = Authority()
        self._stack.callback(authority.close)
        return authority

    def stored(self) -> StoredSide:
        """The screenshots of the crawl, which no browser shows."""
        stores = self._stores
        return StoredSide(
            StoredScreenshots(stores.rows, stores.archive, collection=self._collection)
        )

    def access(self, prefix: str, browser: Opened, stack: ExitStack) -> Side:
        """An access system in a browser.

        Raises:
            ConfigError: the prefix is none.
        """
        urls = AccessUrls(prefix)
        session = access_session(urls, self._authority)
        stack.callback(session.close)
        return AccessSide(urls, session, browser(session.host, session.port))

    def live(self, browser: Opened, stack: ExitStack) -> Side:
        """The live web in a browser; what comes is kept in the run's folder."""
        kept = self._folder / RECORDED
        if self._recording is None:
            self._recording = Recording(kept, software=f"pinakes/{__version__}")
            self._stack.callback(self._recording.close)
        session = live_session(self._recording, self._authority)
        stack.callback(session.close)
        opened = browser(session.host, session.port)
        return LiveSide(session, opened, self._recording, Pauses(kept / "pauses"))


class AsWideAsStored:
    """See `side.Side`: another side, shown as wide as the screenshot it is compared with.

    A page laid out for another width is another page.  Few widths are kept open at a time:
    a crawl has one, as a rule.
    """

    def __init__(
        self,
        kind: str,
        browser: str,
        stored: StoredSide,
        open_side: Callable[[Viewport, ExitStack], Side],
    ) -> None:
        self.kind = kind
        self.browser = browser
        self._stored = stored
        self._open_side = open_side
        self._open: dict[Viewport, tuple[Side, ExitStack]] = {}

    def look(self, url: str, moment: datetime, folder: Path) -> LookResult:
        """Show it in a window of the screenshot's width; in the usual one where there is none."""
        snapshot = self._stored.look(url, moment, folder).seen.snapshot
        return self._side(window_of(snapshot.viewport_width, snapshot.viewport_height)).look(
            url, moment, folder
        )

    def close(self) -> None:
        """End all of them; idempotent."""
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _side(self, viewport: Viewport) -> Side:
        if viewport not in self._open:
            while len(self._open) >= _MOST_WIDTHS:
                self._open.pop(next(iter(self._open)))[1].close()
            stack = ExitStack()
            try:
                self._open[viewport] = (self._open_side(viewport, stack), stack)
            except BaseException:
                stack.close()
                raise
        return self._open[viewport][0]


def window_of(width: int, height: int) -> Viewport:
    """The window that a stored image was taken in; where it shows more, 16 to 9, as is usual."""
    if not 0 < width <= _WIDEST:
        return Viewport()
    return Viewport(width=width, height=min(height or max(1, width * 9 // 16), _HIGHEST))

"""Opens the sides of a run: replay, stored screenshots, access systems, the live web."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from pathlib import Path

from pinakes import __version__
from pinakes.profile import Stores
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.generations import Generation
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.replay.session import ProxySession

from .access import AccessSide, access_session
from .access_urls import AccessUrls
from .live import LiveSide, Pauses, live_session
from .recording import Recording
from .side import LookResult, ReplaySide, Side
from .stored import StoredScreenshots, StoredSide

RECORDED = "live"
"""The folder, in that of a run, with records of the live web."""
_MOST_WIDTHS = 3
_WIDEST, _HIGHEST = 4_000, 4_000
OpenBrowser = Callable[[Proxy], Session]
"""Opens a browser behind a proxy."""


class SideOpener:
    """Opens the sides of a run; what several of them share is opened once.

    The stack given here closes what is shared; the stack given with a browser closes the rest.

    Raises:
        MissingExtra: without the extra `qa`.
    """

    def __init__(
        self, stores: Stores, folder: Path, stack: ExitStack, *, collection: str | None = None
    ) -> None:
        """`collection` limits what is replayed, and screenshots; None: any collection."""
        self._stores = stores
        self._collection = collection
        self._folder = folder
        self._stack = stack
        self._recording: Recording | None = None

    @cached_property
    def _authority(self) -> Authority:
        authority = Authority()
        self._stack.callback(authority.close)
        return authority

    @cached_property
    def _replay(self) -> ReplayProxy:
        return self._stack.enter_context(ReplayProxy(self._stores.rows, self._stores.archive))

    def replay(self, generation: Generation, browser: OpenBrowser, stack: ExitStack) -> Side:
        """A generation of the archive in a browser."""
        session = self._replay.open_session(generation, collection=self._collection)
        return ReplaySide(generation, session, _behind(session, browser, stack))

    def stored(self) -> StoredSide:
        """The screenshots of the crawl, which need no browser."""
        stores = self._stores
        return StoredSide(
            StoredScreenshots(stores.rows, stores.archive, collection=self._collection)
        )

    def access(self, prefix: str, browser: OpenBrowser, stack: ExitStack) -> Side:
        """An access system in a browser.

        Raises:
            ConfigError: not a valid prefix.
        """
        urls = AccessUrls(prefix)
        session = access_session(urls, self._authority)
        return AccessSide(urls, session, _behind(session, browser, stack))

    def live(self, browser: OpenBrowser, stack: ExitStack) -> Side:
        """The live web in a browser; answers are recorded in the run's folder."""
        recorded = self._folder / RECORDED
        if self._recording is None:
            self._recording = Recording(recorded, software=f"pinakes/{__version__}")
            self._stack.callback(self._recording.close)
        session = live_session(self._recording, self._authority)
        opened = _behind(session, browser, stack)
        return LiveSide(session, opened, self._recording, Pauses(recorded / "pauses"))


def _behind(session: ProxySession, browser: OpenBrowser, stack: ExitStack) -> Session:
    """A browser behind a session that the stack closes."""
    stack.callback(session.close)
    return browser(Proxy(host=session.host, port=session.port))


class AsWideAsStored:
    """See `side.Side`: a side shown in the width of the screenshot it is compared with.

    A page laid out for another width looks different.  Few widths are kept open at a time: most
    crawls have one.
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
        """Capture it in a window of the screenshot's width; the default width if there is none."""
        snapshot = self._stored.look(url, moment, folder).loaded.snapshot
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
    """The window of a stored image; of a full-page image, a window of 16 to 9."""
    if not 0 < width <= _WIDEST:
        return Viewport()
    return Viewport(width=width, height=min(height or max(1, width * 9 // 16), _HIGHEST))

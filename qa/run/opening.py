"""Opens what a run captures pages with: for each side a proxy session and a browser behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from pinakes import SOFTWARE
from pinakes.profile import Stores
from pinakes.qa.browsers.page_scripts import Limits
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.judging.model import decode_model
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.views.access import AccessSide, access_session
from pinakes.qa.views.access_urls import AccessUrls
from pinakes.qa.views.live import LiveSide, Pauses, live_session
from pinakes.qa.views.recording import Recording
from pinakes.qa.views.side import ReplaySide, Side, Visit
from pinakes.qa.views.stored import StoredScreenshots, StoredSide

from .page_judge import PageJudge
from .plan import ACCESS, COOKIE_STRIP, GENERATIONS, STORED, RunPlan, is_access, kind_of

RECORDED = "live"
"""The folder, in that of a run, with records of the live web."""
_MOST_WIDTHS = 3
_WIDEST, _HIGHEST = 4_000, 4_000
OpenBrowser = Callable[[Proxy], Session]
"""Opens a browser behind a proxy."""


@contextmanager
def open_judge(plan: RunPlan, stores: Stores, folder: Path) -> Iterator[PageJudge]:
    """All sides of a plan, with their browsers; images go to `folder`.

    Raises:
        ConfigError: where a browser is not installed.
        MissingExtra: without the extra `qa`.
    """
    with ExitStack() as stack:
        yield PageJudge(
            SideOpener(plan, stores, folder, stack).open_all(),
            folder,
            run=plan.run,
            prove_first=plan.prove_first,
            masked=plan.masked,
            models=[decode_model(text.encode()) for text in plan.models],
        )


class SideOpener:
    """Opens the sides of a plan; what several of them share is opened once.

    The stack given here closes what is shared; the stack given with a browser closes the rest.
    """

    def __init__(self, plan: RunPlan, stores: Stores, folder: Path, stack: ExitStack) -> None:
        self._plan = plan
        self._stores = stores
        self._recorded = folder / RECORDED
        self._stack = stack

    def open_all(self) -> list[Side]:
        """All of them, each with its browser."""
        plan = self._plan
        if plan.reference != STORED:
            views = dict.fromkeys((plan.reference, plan.other))
            return [
                self._open(view, name, Viewport(), self._stack)
                for view in views
                for name in plan.browsers
            ]
        stores = self._stores
        stored = StoredSide(
            StoredScreenshots(stores.rows, stores.archive, collection=plan.collection)
        )
        sides: list[Side] = [stored]
        for name in plan.browsers:
            open_side = partial(self._open, plan.other, name)
            wide = AsWideAsStored(kind_of(plan.other), name, stored, open_side)
            self._stack.callback(wide.close)
            sides.append(wide)
        return sides

    def _open(self, view: str, name: str, viewport: Viewport, stack: ExitStack) -> Side:
        def browser_at(proxy: Proxy) -> Session:
            session = open_browser(
                name,
                proxy,
                viewport,
                limits=Limits(across=self._plan.across),
                masked=self._plan.masked_selectors,
                without_strips=COOKIE_STRIP in self._plan.benign,
            )
            return stack.enter_context(session)

        return self.open(view, browser_at, stack)

    def open(self, view: str, browser: OpenBrowser, stack: ExitStack) -> Side:
        """A view other than `stored` in a browser; answers of the live web are recorded.

        Raises:
            ConfigError: not a valid prefix of an access system.
        """
        if view in GENERATIONS:
            session = self._replay.open_session(
                view,  # type: ignore[arg-type]
                collection=self._plan.collection,
            )
            return ReplaySide(view, session, _behind(session, browser, stack))
        if is_access(view):
            urls = AccessUrls(view.removeprefix(f"{ACCESS}:"))
            session = access_session(urls, self._authority)
            return AccessSide(urls, session, _behind(session, browser, stack))
        session = live_session(self._recording, self._authority)
        opened = _behind(session, browser, stack)
        return LiveSide(session, opened, self._recording, Pauses(self._recorded / "pauses"))

    @cached_property
    def _authority(self) -> Authority:
        authority = Authority()
        self._stack.callback(authority.close)
        return authority

    @cached_property
    def _replay(self) -> ReplayProxy:
        return self._stack.enter_context(ReplayProxy(self._stores.rows, self._stores.archive))

    @cached_property
    def _recording(self) -> Recording:
        recording = Recording(self._recorded, software=SOFTWARE)
        self._stack.callback(recording.close)
        return recording


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

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """Capture it in a window of the screenshot's width; the default width if there is none."""
        snapshot = self._stored.visit(url, moment, folder).loaded.snapshot
        return self._side(window_of(snapshot.viewport_width, snapshot.viewport_height)).visit(
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

"""One side of a pair: where pages come from, and the browser that captures them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from pinakes.errors import StoreUnavailable
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.looking import Pins
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import Pixels, read_pixels
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.replay.proxy import repeat_requests
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.snapshot import Image, Snapshot

from .main_exchange import failed_if_not_answered

_NAMED = 10
_CHARACTERS = 2_000


class LookResult(NamedTuple):
    """One capture of a page by a side, and the milliseconds that it took."""

    loaded: LoadedSnapshot
    log: PageLog | None
    """The page's requests; None if unknown."""
    milliseconds: int
    note: str | None = None
    """A note on the capture itself."""


class Side(Protocol):
    """Captures pages from one source.  Not for several threads."""

    @property
    def kind(self) -> str:
        """`replay:before`, `replay:current`, `access:URL-PREFIX`, `stored` or `live`."""
        ...

    @property
    def browser(self) -> str:
        """The name of its browser in the list; empty if it has none."""
        ...

    def look(self, url: str, moment: datetime, folder: Path) -> LookResult:
        """Capture a page as it was at that moment; images go to the folder."""
        ...


class Browser(Protocol):
    """A browser behind a proxy: `browsers.session.Session`."""

    @property
    def name(self) -> str: ...

    def capture(
        self,
        url: str,
        *,
        pins: Pins,
        folder: Path,
        on_blank: Callable[[], None] | None = None,
        is_known: Callable[[], bool] | None = None,
    ) -> Snapshot:
        """Capture a page; `on_blank` is called when the previous page is left.

        `is_known` is asked once the page has requested what it requests: if so, an image of the
        first screen is enough.
        """
        ...


class ReplaySide:
    """A generation of the archive: a session that answers from it, and a browser behind it."""

    def __init__(self, generation: str, session: ProxySession, browser: Browser) -> None:
        self.kind = f"replay:{generation}"
        self.browser = browser.name
        self._session = session
        self._browser = browser

    def look(
        self,
        url: str,
        moment: datetime,
        folder: Path,
        *,
        is_known: Callable[[PageLog], bool] | None = None,
    ) -> LookResult:
        """See `Side`; `is_known` is given the requests of the page, and see `Browser`.

        Raises:
            StoreUnavailable: a store did not answer, so the page's look is unknown.
        """
        started = time.monotonic()
        page = Page(url, moment, url, Pins(clock=moment))
        snapshot, log = capture_with_log(
            self._browser, self._session, page, folder, is_known=is_known
        )
        _check_available(log)
        took = round(1000 * (time.monotonic() - started))
        snapshot = failed_if_not_answered(
            snapshot, log, missed="the archive does not have the page"
        )
        snapshot = replace(snapshot, reasons=(*snapshot.reasons, *_unreadable(snapshot, log)))
        return LookResult(load_snapshot(snapshot, folder, log.payloads), log, took)

    def repeat_requests(self, log: PageLog, moment: datetime) -> PageLog:
        """Repeat the requests of a page without a browser; the log of the answers.

        Raises:
            StoreUnavailable: a store did not answer.
        """
        self._session.begin_page(log.name, moment)
        try:
            repeat_requests(self._session, log)
        finally:
            again = self._session.end_page()
        _check_available(again)
        return again


def _check_available(log: PageLog) -> None:
    for exchange in log.exchanges:
        if exchange.outcome == "unavailable":
            raise StoreUnavailable(exchange.problem or "a store did not answer", file=exchange.url)


def _unreadable(snapshot: Snapshot, log: PageLog) -> Iterator[str]:
    """Reasons for faults of the log that the snapshot does not name yet."""
    found = {fault.url: fault.problem or "" for fault in log.faults}
    faults = {url: problem for url, problem in found.items() if problem not in snapshot.reasons}
    if faults:
        some = "; ".join(f"{url}: {problem}" for url, problem in list(faults.items())[:_NAMED])
        yield f"in the archive but unreadable: {len(faults):,}: {some}"[:_CHARACTERS]


class Page(NamedTuple):
    """A page to capture: the URL and moment of its log, and the address for the browser."""

    url: str
    moment: datetime
    address: str
    pins: Pins


def capture_with_log(
    browser: Browser,
    session: ProxySession,
    page: Page,
    folder: Path,
    *,
    is_known: Callable[[PageLog], bool] | None = None,
) -> tuple[Snapshot, PageLog]:
    """Capture a page with its log.

    The log begins when the previous page is left: late requests and beacons of that page are
    refused, and in no log.
    """
    begun = False

    def begin() -> None:
        nonlocal begun
        session.begin_page(page.url, page.moment)
        begun = True

    try:
        snapshot = browser.capture(
            page.address,
            pins=page.pins,
            folder=folder,
            on_blank=begin,
            is_known=None if is_known is None else lambda: is_known(session.log_so_far()),
        )
    except BaseException:
        if begun:
            session.end_page()
        raise
    return snapshot, session.end_page()


def load_snapshot(
    snapshot: Snapshot, folder: Path, payloads: Mapping[str, str] | None = None
) -> LoadedSnapshot:
    """A snapshot with its images decoded, for comparison.

    `payloads` are the payload digests of the page's answers, by URL.
    """
    return LoadedSnapshot(
        snapshot=snapshot,
        pixels=_pixels(snapshot.image, folder),
        payloads=payloads,
        uncovered=_pixels(snapshot.image_without_overlay, folder),
    )


def _pixels(image: Image | None, folder: Path) -> Pixels | None:
    return read_pixels(read_image(folder, image)) if image is not None else None

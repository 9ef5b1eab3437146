"""One side of a pair: where pages come from, and the browser that captures them.

The time between a capture and the side that it is compared with limits the verdict: pages change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol

from pinakes.counts import count_of
from pinakes.errors import StoreUnavailable
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import Pixels, read_pixels
from pinakes.qa.replay.page_log import LoggedExchange, PageLog
from pinakes.qa.replay.proxy import repeat_requests
from pinakes.qa.replay.request import original_uri
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.results import Verdict
from pinakes.qa.snapshot import Image, Outcome, Snapshot

_NAMED = 10
_CHARACTERS = 2_000


class Visit(NamedTuple):
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

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """Capture a page as it was at that moment; images go to the folder."""
        ...


class ReplaySide:
    """A generation of the archive: a session that answers from it, and a browser behind it."""

    def __init__(self, generation: str, session: ProxySession, browser: Session) -> None:
        self.kind = f"replay:{generation}"
        self.browser = browser.name
        self._session = session
        self._browser = browser

    def visit(
        self,
        url: str,
        moment: datetime,
        folder: Path,
        *,
        is_known: Callable[[PageLog], bool] | None = None,
    ) -> Visit:
        """See `Side`; `is_known` is given the requests of the page, and see `Look`.

        Raises:
            StoreUnavailable: a store did not answer, so the page's look is unknown.
        """
        page = PageToCapture(url, moment, url, Pins(clock=moment))
        snapshot, log, took = capture_with_log(
            self._browser, self._session, page, folder, is_known=is_known
        )
        _check_available(log)
        snapshot = failed_if_not_answered(
            snapshot, log, missed="the archive does not have the page"
        )
        snapshot = replace(snapshot, reasons=(*snapshot.reasons, *_unreadable(snapshot, log)))
        return Visit(load_snapshot(snapshot, folder, log.payloads), log, took)

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


class PageToCapture(NamedTuple):
    """A page to capture: the URL and moment of its log, and the address for the browser."""

    url: str
    moment: datetime
    address: str
    pins: Pins


def capture_with_log(
    browser: Session,
    session: ProxySession,
    page: PageToCapture,
    folder: Path,
    *,
    is_known: Callable[[PageLog], bool] | None = None,
) -> tuple[Snapshot, PageLog, int]:
    """Capture a page with its log; and the milliseconds that it took.

    The log begins when the previous page is left: late requests and beacons of that page are
    refused, and in no log.
    """
    started = time.monotonic()
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
    log = session.end_page()
    return snapshot, log, round(1000 * (time.monotonic() - started))


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


def main_exchange(log: PageLog) -> LoggedExchange | None:
    """The page's own exchange, after redirects to itself; None if it redirects elsewhere.

    The log's name is the page's URL.  If the browser writes it differently (escapes, dots), the
    page is the first request.
    """
    uri = original_uri(log.name, None)
    requested = log.answered
    if requested and all(exchange.url != uri for exchange in requested):
        uri = requested[0].url
    own = [exchange for exchange in requested if exchange.url == uri]
    answered = [exchange for exchange in own if not 300 <= (exchange.status or 0) < 400]
    return answered[0] if answered else None


def failed_if_not_answered(snapshot: Snapshot, log: PageLog, *, missed: str) -> Snapshot:
    """The snapshot; with outcome `failed` and the reason, if the page itself was not answered.

    The browser then shows a message of the proxy, which it takes for a page.  `missed` is the
    reason if the log has none.
    """
    page = main_exchange(log)
    if page is None or page.outcome not in ("miss", "fault"):
        return snapshot
    reasons = (*snapshot.reasons, page.problem or missed)
    return replace(snapshot, outcome=Outcome.FAILED, reasons=reasons)


CHANGED_AFTER = timedelta(days=2)
"""After that time most pages of the web have changed."""
CHANGED = "changed? the live page differs, which may not be a fault of the archive"
CHANGED_SHOT = "changed? the screenshot was taken at another time"
_CHANGED = {"live": CHANGED, "stored": CHANGED_SHOT}
"""By the kind of a side whose time may differ from the capture's."""


def describe_gap(gap: timedelta) -> str:
    """`live, 12 days after the capture`: whole days, or hours if less than a day."""
    days, hours = gap.days, gap.seconds // 3600
    if gap < timedelta(0):
        return "live, before the time of the capture: one of the clocks is wrong"
    if days:
        return f"live, {count_of(days, 'day')} after the capture"
    return f"live, {count_of(hours, 'hour')} after the capture"


def verdict_given_gap(kind: str, verdict: Verdict, gap: timedelta) -> tuple[Verdict, str | None]:
    """The verdict on a pair with a side of that kind, and why it was changed, if it was.

    `gap` is the time of that side minus the capture's.  After a large gap a difference may be a
    change of the page: uncertain.  A replay has no gap, and keeps its verdict.
    """
    why = _CHANGED.get(kind)
    if why is not None and verdict is Verdict.DISSIMILAR and abs(gap) > CHANGED_AFTER:
        return Verdict.UNCERTAIN, why
    return verdict, None

"""Pages as an access system shows them: pywb, OpenWayback, or another that rewrites URLs.

The browser reaches the origin of the prefix only.  URLs that the access system failed to rewrite
lead to the live web: they are refused, and are faults in the page's log.
"""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.snapshot import Snapshot

from .access_urls import AccessUrls
from .forwarding import Assessment, Forbidden, ForwardingResponder
from .side import (
    PageToCapture,
    Visit,
    capture_with_log,
    failed_if_not_answered,
    load_snapshot,
)
from .upstream import Origin, ServerExchange, Upstream

LEAK = "leak to the live web"
_NAMED = 10
# pywb's pages, if not in a frame, send the browser to the frame with the banner.  They read
# `wbinfo` for it, which here always says that there is no frame.
_WITHOUT_FRAME = """
(() => {
  let told;
  const bare = {
    get: (info, name) => (name === 'top_url' ? undefined : info[name]),
    set: (info, name, value) => {
      info[name] = name === 'is_framed' ? false : value;
      return true;
    },
  };
  Object.defineProperty(window, 'wbinfo', {
    configurable: true,
    get: () => told,
    set: (info) => { told = info && typeof info === 'object' ? new Proxy(info, bare) : info; },
  });
})()
"""
# Bodies that no access system rewrites: other bytes mean another capture.
_NEVER_REWRITTEN = ("image/", "audio/", "video/", "font/")
_REWRITTEN = frozenset({"image/svg+xml"})


class AccessSystemPolicy:
    """Allows one access system.  See `forwarding.ProxyPolicy`."""

    def __init__(self, urls: AccessUrls) -> None:
        self._urls = urls

    def addresses(self, uri: str, origin: Origin) -> list[tuple[str, int]]:
        """The access system's own, in any network: the user named it."""
        if origin != self._urls.origin:
            raise Forbidden(f"{LEAK}: {uri}", is_fault=True)
        return [(origin.host, origin.port)]

    def original(self, uri: str) -> str:
        """The URL behind a rewritten one."""
        return self._urls.original(uri)

    def assess(self, uri: str, upstream: Upstream) -> Assessment:
        """Captures have Memento-Datetime (RFC 7089); other answers are the system's own."""
        status = upstream.head.status or 0
        captured = upstream.head.get("memento-datetime") is not None
        if status < 400 or captured:
            return Assessment("hit", is_comparable=captured and _is_as_captured(upstream))
        if self._urls.original(uri) != uri:
            if status == 404:
                return Assessment("miss")
            return Assessment("fault", f"the access system returned {status}")
        return Assessment("fault", f"URL not rewritten; the access system returned {status}")

    def recording(self, exchange: ServerExchange) -> contextlib.AbstractContextManager[None]:
        """Nothing."""
        return contextlib.nullcontext()


def _is_as_captured(upstream: Upstream) -> bool:
    """Whether the bytes are those of the record: not rewritten, and not decoded."""
    kind = upstream.head.media_type or ""
    coded = upstream.head.get("content-encoding") is not None
    return kind.startswith(_NEVER_REWRITTEN) and kind not in _REWRITTEN and not coded


def access_session(
    urls: AccessUrls, authority: Authority, *, tls: ssl.SSLContext | None = None
) -> ProxySession:
    """A session that reaches one access system.

    `tls` verifies its certificate; default: as browsers do.
    """
    responder = ForwardingResponder(AccessSystemPolicy(urls), tls or ssl.create_default_context())
    return ProxySession(responder, authority)


class AccessSide:
    """See `side.Side`: the access system, the session in front of it, a browser behind."""

    def __init__(self, urls: AccessUrls, session: ProxySession, browser: Session) -> None:
        self.kind = f"access:{urls.prefix}"
        self.browser = browser.name
        self._urls = urls
        self._session = session
        self._browser = browser

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """Capture a page as the access system shows it, under original URLs."""
        pins = Pins(clock=moment, before=_WITHOUT_FRAME)
        page = PageToCapture(url, moment, self._urls.address(url, moment), pins)
        snapshot, log, took = capture_with_log(self._browser, self._session, page, folder)
        snapshot = with_leaks(log, under_original_urls(snapshot, url, self._urls))
        return Visit(load_snapshot(snapshot, folder, log.payloads), log, took)


def under_original_urls(snapshot: Snapshot, url: str, urls: AccessUrls) -> Snapshot:
    """A snapshot of a rewritten page, with original URLs as in replay."""
    original = urls.original
    pictures = snapshot.pictures
    if pictures is not None:
        pictures = replace(pictures, broken_urls=tuple(map(original, pictures.broken_urls)))
    return replace(
        snapshot,
        url=url,
        final_url=snapshot.final_url and original(snapshot.final_url),
        resources=tuple(replace(one, url=original(one.url)) for one in snapshot.resources),
        frames=tuple(replace(one, url=original(one.url)) for one in snapshot.frames),
        media=tuple(replace(one, url=original(one.url)) for one in snapshot.media),
        pictures=pictures,
    )


def with_leaks(log: PageLog, snapshot: Snapshot) -> Snapshot:
    """The snapshot with what only the log knows: leaks, and whether the page was found."""
    leaks = list(dict.fromkeys(e.url for e in log.faults if (e.problem or "").startswith(LEAK)))
    reasons = list(snapshot.reasons)
    if leaks:
        reasons.append(f"leaks to the live web: {len(leaks):,}: {', '.join(leaks[:_NAMED])}"[:2000])
    snapshot = replace(snapshot, reasons=tuple(reasons))
    return failed_if_not_answered(snapshot, log, missed="the access system does not have the page")

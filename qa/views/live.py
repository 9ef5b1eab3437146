"""Pages as the live web shows them now; used only on request (`--live`).

The browser reaches public addresses only, one page of a host at a time with a pause between
them, and all answers are recorded.  Servers' certificates are verified as browsers do; the
browser itself sees one of ours.  The page may have changed since its capture: the time between
is a reason of the view, and limits the verdict (`side.verdict_given_gap`).

A page must not lead the browser into the user's own network, by a redirect or by the address of
a host name.  The proxy connects to the addresses found here, so that a second answer of a name
server cannot differ.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pinakes.errors import StoreUnavailable
from pinakes.index.selection import host_of
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.session import ProxySession

from .forwarding import Assessment, Forbidden, ForwardingResponder
from .recording import AnswerRecorder, Recording
from .side import (
    PageToCapture,
    Visit,
    capture_with_log,
    describe_gap,
    failed_if_not_answered,
    load_snapshot,
)
from .upstream import Origin, ServerExchange, Upstream

Address = tuple[str, int]
Resolver = Callable[[Origin], "list[Address]"]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Python versions differ on which of these are global: IETF's own, 6to4 relays, local NAT64,
# site-local, documentation (IANA's special-purpose registries).
_WITHIN = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "fec0::/10", "3fff::/20")
)


class NotPublic(Exception):
    """Inside this package: the host has no public address."""


def public_addresses(origin: Origin) -> list[Address]:
    """The public addresses of a host, in the resolver's order.  Queries the name server.

    Raises:
        NotPublic: none of its addresses is public.
        StoreUnavailable: it has no address.
    """
    try:
        found = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StoreUnavailable(f"no address for {origin.host}: {why}") from error
    addresses = list(dict.fromkeys((str(one[4][0]), origin.port) for one in found))
    public = [address for address in addresses if is_public(address[0])]
    if not public:
        said = ", ".join(host for host, _ in addresses[:3])
        raise NotPublic(f"{origin.host} has no public address: {said}")
    return public


def is_public(text: str) -> bool:
    """Whether an address is public; an address embedded in it must be public as well."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # with a zone: of one link
        return False
    if address in _NAT64:
        return is_public(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
    if any(address in network for network in _WITHIN):
        return False
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    return all(is_public(str(one)) for one in inner if one is not None)


PAUSE_S = 5.0
"""Between the end of one page of a host and the next."""


class LiveWebPolicy:
    """Allows the public web, and records it.  See `forwarding.ProxyPolicy`."""

    def __init__(self, recording: Recording, resolver: Resolver) -> None:
        self._recording = recording
        self._resolver = resolver

    def addresses(self, uri: str, origin: Origin) -> list[tuple[str, int]]:
        """Public ones."""
        try:
            return self._resolver(origin)
        except NotPublic as error:
            raise Forbidden(str(error), is_fault=True) from error

    def original(self, uri: str) -> str:
        """Itself."""
        return uri

    def assess(self, uri: str, upstream: Upstream) -> Assessment:
        """Every answer of a server is a hit."""
        return Assessment("hit", is_comparable=True)

    @contextlib.contextmanager
    def recording(self, exchange: ServerExchange) -> Iterator[AnswerRecorder | None]:
        """Record it; if that fails, `Recording.take_problems` says so."""
        try:
            recorder = self._recording.begin(exchange)
        except OSError as error:
            self._recording.add_problem(f"not recorded: {error.strerror}: {exchange.request.uri}")
            yield None
            return
        try:
            yield recorder
        finally:
            self._recording.end(recorder)
            recorder.close()


def live_session(
    recording: Recording,
    authority: Authority,
    *,
    resolver: Resolver = public_addresses,
    tls: ssl.SSLContext | None = None,
) -> ProxySession:
    """A session that reaches the public web.

    `resolver` and `tls` are for tests, whose servers are on loopback.
    """
    policy = LiveWebPolicy(recording, resolver)
    responder = ForwardingResponder(policy, tls or ssl.create_default_context())
    return ProxySession(responder, authority)


class Pauses:
    """Pauses between pages of a host: a file for each host, locked while a page is shown.

    Valid for all processes of a run on one machine, and for a run that is continued.
    """

    def __init__(
        self,
        folder: Path,
        pause_s: float = PAUSE_S,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        self._pause_s = pause_s
        self._clock = clock
        self._sleep = sleep

    @contextlib.contextmanager
    def page_of(self, host: str) -> Iterator[None]:
        """Wait until the host's pause is over; show the page within.

        Raises:
            OSError: the file cannot be made; no request is sent without it.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        with (self._folder / f"{name}.pause").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ended_s = Path(file.name).stat().st_mtime
            if file.tell():  # a page was shown
                over_s = self._clock() - ended_s
                # A clock that was set back must not delay a run further.
                self._sleep(min(self._pause_s, max(0.0, self._pause_s - over_s)))
            else:
                file.write("a page was shown\n")
                file.flush()
            try:
                yield
            finally:
                now_s = self._clock()
                os.utime(file.fileno(), (now_s, now_s))


class LiveSide:
    """See `side.Side`: the web of today."""

    kind = "live"

    def __init__(
        self,
        session: ProxySession,
        browser: Session,
        recording: Recording,
        pauses: Pauses,
        *,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.browser = browser.name
        self._session = session
        self._browser = browser
        self._recording = recording
        self._pauses = pauses
        self._clock = clock or (lambda: datetime.now(timezone.utc))

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """Capture the page as it is now; the gap is counted from `moment`, its capture's."""
        with self._pauses.page_of(host_of(url) or ""):
            return self._look(url, moment, folder)

    def _look(self, url: str, moment: datetime, folder: Path) -> Visit:
        now = self._clock()
        page = PageToCapture(url, moment, url, Pins(clock=now))
        snapshot, log, took = capture_with_log(self._browser, self._session, page, folder)
        reasons = [*snapshot.reasons, describe_gap(now - moment), *self._recording.take_problems()]
        snapshot = replace(snapshot, reasons=tuple(reasons))
        snapshot = failed_if_not_answered(snapshot, log, missed="no server answered for the page")
        return Visit(load_snapshot(snapshot, folder, log.payloads), log, took)

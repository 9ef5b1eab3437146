"""The proxy between a browser and a real server: sessions and pages, as in replay.

A `ProxyPolicy` says who may be asked, what is noted of it and who keeps what passes; all else
is refused, and in the page's log.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import Message
from typing import NamedTuple, Protocol

from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.qa.replay.answer_head import own_head
from pinakes.qa.replay.answers import own_answer
from pinakes.qa.replay.asked import Asked
from pinakes.qa.replay.browsers_own import is_browsers_own
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.page_log import Exchange, OpenPage, Outcome, PageLog
from pinakes.qa.replay.sending import Sender, send_answer
from pinakes.qa.replay.server import LOOPBACK, ProxyServer

from .passing import Keeper, Passed, pass_on
from .upstream import PATIENCE_S, Origin, Upstream, asked_of, connect, request_bytes


class Refused(Exception):
    """Inside this package: policy forbids this request; `is_fault` where that is the page's."""

    def __init__(self, why: str, *, is_fault: bool) -> None:
        super().__init__(why)
        self.is_fault = is_fault


class Told(NamedTuple):
    """What an answer means for the page's log."""

    outcome: Outcome
    problem: str | None = None
    is_comparable: bool = False
    """Whether its bytes are those that were captured, and not rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange with a server: what was asked in which bytes, and what came."""

    asked: Asked
    request: bytes
    upstream: Upstream


class ProxyPolicy(Protocol):
    """Where a browser's requests may go.  Called by several threads at once."""

    def addresses(self, uri: str, origin: Origin) -> list[tuple[str, int]]:
        """Addresses to try for an origin.

        Raises:
            Refused: the browser may not ask for this.
            StoreUnavailable: nobody has an address for it.
        """
        ...

    def original(self, uri: str) -> str:
        """The URL that the log has for one that was asked for."""
        ...

    def told(self, uri: str, upstream: Upstream) -> Told:
        """What the head of an answer says of it."""
        ...

    def keeping(self, turn: Turn) -> contextlib.AbstractContextManager[Keeper | None]:
        """Who keeps what passes; told of the end by leaving."""
        ...

    def kept(self, keeper: Keeper | None, passed: Passed) -> None:
        """How it went, said before `keeping` is left."""
        ...


class _Shown(NamedTuple):
    """A page that is being shown; `is_over` once nothing more is waited for."""

    log: OpenPage
    is_over: threading.Event


class PassingSession:
    """A port for one browser, and what it may reach; shows one page at a time."""

    def __init__(
        self,
        way: ProxyPolicy,
        authority: Authority,
        tls: ssl.SSLContext,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._way = way
        self._tls = tls
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._page: _Shown | None = None
        self._under_way: dict[socket.socket, _Shown] = {}
        self.refused_outside = 0
        """How many requests came while no page was open: each was refused."""
        self._server = ProxyServer(self, authority)
        self.host = LOOPBACK
        self.port = self._server.port

    def begin_page(self, name: str, moment: datetime) -> None:
        """From now on requests are this page's.

        Raises:
            ConfigError: while another page is open.
        """
        with self._lock:
            if self._page is not None:
                raise ConfigError("another page of this session is open")
            self._page = _Shown(OpenPage(name), threading.Event())

    def end_page(self, *, patience_s: float = 2.0) -> PageLog:
        """Close the page; what still comes after that time is cut off.

        Raises:
            ConfigError: where none is open.
        """
        with self._lock:
            page, self._page = self._page, None
        if page is None:
            raise ConfigError("no page of this session is open")
        log = page.log.close(patience_s)
        page.is_over.set()
        with self._lock:
            late = [taken for taken, its in self._under_way.items() if its is page]
        for connection in late:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        return log

    def close(self) -> None:
        """End it and its connections; idempotent."""
        with self._lock:
            connections = list(self._under_way)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.stop()

    def exchange(self, asked: Asked | None, fields: Message, sender: Sender) -> None:
        """Pass one request on, or refuse it, and note it in the page's log."""
        with self._lock:
            page = self._page
            if page is None:
                self.refused_outside += 1
        if page is None:
            send_answer(own_answer("refused", 403, "no page is open"), sender)
        elif asked is None:
            send_answer(own_answer("refused", 400, "no URL of http or https"), sender)
        else:
            self._exchange(page, asked, fields, sender)

    def _exchange(self, page: _Shown, asked: Asked, fields: Message, sender: Sender) -> None:
        url = self._way.original(asked.uri)
        number = page.log.begin(asked.method, url)
        noted = Exchange(method=asked.method, url=url, outcome="fault")
        try:
            noted = self._passed(page, asked, fields, sender, noted)
        except Refused as refused:
            outcome: Outcome = "fault" if refused.is_fault else "refused"
            noted = replace(noted, outcome=outcome, problem=str(refused), status=403)
            self._say(noted, sender)
        except StoreUnavailable as error:
            noted = replace(noted, problem=error.message, status=502)
            self._say(noted, sender)
        except Exception as error:  # noqa: BLE001 (no page may hang on an error of ours, unsaid)
            noted = replace(noted, problem=f"{type(error).__name__}: {error}", status=502)
            self._say(noted, sender)
        finally:
            page.log.finish(number, noted)

    def _say(self, noted: Exchange, sender: Sender) -> None:
        """An answer of our own, where nothing has been sent yet."""
        if sender.has_begun:
            sender.close = True
            return
        text = f"{noted.outcome}: {noted.problem}\n".encode("utf-8", "backslashreplace")
        head = own_head(noted.status or 502, noted.outcome, len(text))
        with contextlib.suppress(OSError):
            sender.has_begun = True
            sender.file.write(head.encode(close=sender.close))
            if noted.method != "HEAD":
                sender.file.write(text)
            sender.file.flush()

    def _passed(
        self, page: _Shown, asked: Asked, fields: Message, sender: Sender, noted: Exchange
    ) -> Exchange:
        self._refuse(asked, fields)
        origin = Origin.of(asked.uri)
        addresses = self._way.addresses(asked.uri, origin)
        request = request_bytes(asked, fields)
        with contextlib.ExitStack() as stack:
            connection = connect(origin, addresses, self._tls, self._patience_s)
            stack.enter_context(self._known(connection, page))
            upstream = stack.enter_context(asked_of(connection, request, method=asked.method))
            told = self._way.told(asked.uri, upstream)
            turn = Turn(asked=asked, request=request, upstream=upstream)
            keeper = stack.enter_context(self._way.keeping(turn))
            passed = pass_on(
                upstream,
                sender,
                wants_body=asked.wants_body,
                keeper=keeper,
                is_over=page.is_over.is_set,
            )
            self._way.kept(keeper, passed)
            return _noted(noted, asked, upstream, told, passed)

    def _refuse(self, asked: Asked, fields: Message) -> None:
        """What is passed on nowhere."""
        if fields.get("Service-Worker", "").strip().lower() == "script":
            raise Refused(f"no service worker is installed: {asked.uri}", is_fault=False)
        if fields.get("Upgrade", "").strip().lower() == "websocket":
            raise Refused(f"WebSockets are not passed on: {asked.uri}", is_fault=False)
        if is_browsers_own(asked.uri):
            raise Refused(f"browsers ask for it of their own accord: {asked.uri}", is_fault=False)
        if len(asked.body) != int(fields.get("Content-Length", "0").strip() or 0):
            raise Refused(f"a request of over {len(asked.body):,} bytes", is_fault=True)

    @contextlib.contextmanager
    def _known(self, connection: socket.socket, page: _Shown) -> Iterator[None]:
        """Keep a connection among those that the end of the page ends."""
        with self._lock:
            self._under_way[connection] = page
        try:
            yield
        finally:
            with self._lock:
                self._under_way.pop(connection, None)


def _noted(
    noted: Exchange, asked: Asked, upstream: Upstream, told: Told, passed: Passed
) -> Exchange:
    """The line of the page's log about an answer that was passed on."""
    status = upstream.head.status
    outcome: Outcome = "fault" if passed.by_server else told.outcome
    is_whole = passed.is_complete and asked.wants_body and status not in (206, 416)
    has_payload = outcome == "hit" and passed.is_complete and asked.wants_body
    return replace(
        noted,
        outcome=outcome,
        status=status,
        media_type=upstream.head.media_type,
        sent_bytes=passed.size,
        payload_digest=f"sha256:{passed.digest}" if has_payload and told.is_comparable else None,
        is_whole=is_whole,
        problem=passed.problem or told.problem,
    )

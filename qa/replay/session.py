"""A proxy session: a port for one browser, which shows one page at a time.

    session.begin_page("page 1", captured_at)
    ...the browser, whose proxy is 127.0.0.1:{session.port}, loads the URL
    log = session.end_page()

What answers the requests is given as a `Responder`: the archive (`proxy`), or a real server
(`views.forwarding`).  Browsers are distinguished by port: no browser can be made to name its page
in a request without changing what the page sees.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from email.message import Message
from typing import Protocol

from pinakes.errors import ConfigError

from .certificates import Authority
from .page_log import LoggedExchange, OpenPage, PageLog
from .request import ProxyRequest
from .sending import Sender, own_answer, send_answer
from .server import LOOPBACK, ProxyServer


class ShownPage:
    """A page while it is shown: its log, and the connections to servers opened for it."""

    def __init__(self, name: str, moment: datetime) -> None:
        self.moment = moment
        self.log = OpenPage(name)
        self.is_over = threading.Event()
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()

    @contextlib.contextmanager
    def owning(self, connection: socket.socket) -> Iterator[None]:
        """Within, the end of the page shuts this connection down."""
        with self._lock:
            self._connections.add(connection)
        try:
            if self.is_over.is_set():
                _shut_down(connection)
            yield
        finally:
            with self._lock:
                self._connections.discard(connection)

    def end(self, timeout_s: float) -> PageLog:
        """Wait for open requests, at most that long, and cut off the rest."""
        log = self.log.close(timeout_s)
        self.is_over.set()
        self.cut_connections()
        return log

    def cut_connections(self) -> None:
        """Shut down the connections to servers that are open."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            _shut_down(connection)


class Responder(Protocol):
    """Answers the requests of a page.  Called by several threads at once."""

    def log_entry(self, request: ProxyRequest) -> LoggedExchange:
        """The request in the page's log, before it is answered."""
        ...

    def respond(
        self, page: ShownPage, request: ProxyRequest, fields: Message, sender: Sender
    ) -> LoggedExchange:
        """Answer one request, and return its complete log entry."""
        ...


class ProxySession:
    """A port for one browser; see the module.  `close` ends it and its connections."""

    def __init__(self, responder: Responder, authority: Authority) -> None:
        self._responder = responder
        self._lock = threading.Lock()
        self._page: ShownPage | None = None
        self.refused_outside = 0
        """Requests refused because no page was open."""
        self._server = ProxyServer(self.exchange, authority)
        self.host = LOOPBACK
        self.port = self._server.port

    def begin_page(self, name: str, moment: datetime) -> None:
        """Count requests as this page's from now on, at the moment of its capture.

        Raises:
            ConfigError: another page is open, or the moment has no time zone.
        """
        if moment.tzinfo is None:
            raise ConfigError("the moment of a page needs a time zone")
        with self._lock:
            if self._page is not None:
                raise ConfigError("another page of this session is open")
            self._page = ShownPage(name, moment.astimezone(timezone.utc))

    def log_so_far(self, *, timeout_s: float = 0.2) -> PageLog:
        """The log of the open page up to now, once its requests are answered, or after that time.

        Raises:
            ConfigError: no page is open.
        """
        with self._lock:
            page = self._page
        if page is None:
            raise ConfigError("no page of this session is open")
        return page.log.so_far(timeout_s)

    def end_page(self, *, timeout_s: float = 2.0) -> PageLog:
        """Close the page once its requests are answered, or after that time.

        Requests that come after the call are refused; those not answered are `unfinished`.

        Raises:
            ConfigError: no page is open.
        """
        with self._lock:
            page, self._page = self._page, None
        if page is None:
            raise ConfigError("no page of this session is open")
        return page.end(timeout_s)

    def close(self) -> None:
        """End the session and its connections; idempotent."""
        with self._lock:
            page = self._page
        if page is not None:
            page.cut_connections()
        self._server.stop()

    def exchange(self, request: ProxyRequest | None, fields: Message, sender: Sender) -> None:
        """Answer one request, and enter it in the page's log."""
        with self._lock:
            page = self._page
            if page is None:
                self.refused_outside += 1
        if page is None:
            send_answer(own_answer("refused", 403, "no page is open"), sender)
        elif request is None:
            send_answer(own_answer("refused", 400, "not an http or https URL"), sender)
        else:
            self._respond(page, request, fields, sender)

    def _respond(
        self, page: ShownPage, request: ProxyRequest, fields: Message, sender: Sender
    ) -> None:
        entry = self._responder.log_entry(request)
        number = page.log.begin(entry.method, entry.url, entry.request)
        try:
            entry = self._responder.respond(page, request, fields, sender)
        except Exception as error:  # noqa: BLE001 (a page must not hang on an error of ours)
            problem = f"{type(error).__name__}: {error}"
            entry = replace(entry, outcome="fault", status=502, problem=problem)
            if not sender.has_begun:
                answer = own_answer("fault", 502, problem, has_body=request.wants_body)
                send_answer(answer, sender)
            sender.close = True
        finally:
            page.log.finish(number, entry)


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)

"""uvicorn, with the bounds that it lacks: what a client may hold, and for how long.

A request's own size and time are its application's: `asgi.read_body`.  Connections are looked
over once a second, so that a request pays nothing for it.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from http import HTTPStatus
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .asgi import Application, AtOnce, Receive, Scope, Send, send_line

GRACE_S = 10
"""For answers under way, once a signal has ended the server."""
_TICKS_A_SECOND = 10
_OPEN_FILES = 16_384
_CLOSE = (b"connection", b"close")
_HEAD_END = b"\r\n\r\n"
_PLAIN_GET = re.compile(
    rb"GET (/[\w!$%&'()*+,./:;=@~-]*)\??([\w!$%&'()*+,./:;=?@~\[\]-]*) HTTP/1\.1", re.ASCII
)
"""A request line: path and query, with nothing that a parser might see otherwise."""
_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a client may hold of a process."""

    idle_s: int = 5
    """Between two requests."""
    head_s: float = 10.0
    """For the head of a request, since the connection or the last response: else 408."""
    head_bytes: int = 32 << 10
    """Else 431."""
    ahead: int = 32
    """Requests sent ahead of an answer; those beyond are not taken, and the connection closed."""
    stalled_s: float = 30.0
    """For more of a body to come, and for the client to read 64 KiB of an answer."""
    many: int = 1000
    """Connections; above, 503 with Retry-After."""
    most: int = 4000
    """Connections; above, closed unanswered."""


async def _too_many(scope: Scope, receive: Receive, send: Send) -> None:
    words = "Service Unavailable: too many connections"
    await send_line(send, 503, words, [(b"retry-after", b"2"), _CLOSE])


class BoundedProtocol(HttpToolsProtocol):
    """A connection.  `check` ends it where it is over its time.

    `at_once` is asked first for the answer to a request without a body: it is written in one
    piece, without a task of its own, which takes half the time of a small answer.  Clients send
    the same headers over and over: those of the last answer given so are parsed no second time.
    """

    def __init__(
        self,
        *arguments: Any,
        bounds: Bounds,
        at_once: AtOnce | None,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self._bounds = bounds
        self._at_once = at_once
        self._may_be_at_once = False
        self._answered: RequestResponseCycle | None = None
        self._headers_of_whole = self._known_headers = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, unless there are too many."""
        super().connection_made(transport)
        self._free_since_s = self._received_s = self.loop.time()
        self._has_answered = self._is_last = False
        self._has_head = self._takes_body = False
        self._refused: HTTPStatus | None = None
        self._paused_s: float | None = None
        self._head_bytes = 0
        if len(self.connections) > self._bounds.most:
            transport.abort()
        elif len(self.connections) > self._bounds.many:
            self.app = _too_many

    def data_received(self, data: bytes) -> None:
        """Parse; a head that is too large ends it."""
        self._received_s = self.loop.time()
        if self._is_last:
            return
        line, _, headers = data.partition(b"\r\n")
        plain = _PLAIN_GET.fullmatch(line) if len(data) <= self._bounds.head_bytes else None
        is_known = plain is not None and b"" != headers == self._known_headers
        if is_known and plain is not None and self._is_answered(*plain.groups()):
            return
        is_whole = plain is not None and data.find(_HEAD_END) == len(data) - len(_HEAD_END)
        self._headers_of_whole = headers if is_whole and not self._head_bytes else b""
        self._known_headers = b""
        self._head_bytes += len(data)
        # Of requests sent ahead only the first, so that other clients have their turn.
        self._may_be_at_once = not is_known
        super().data_received(data)
        if self._head_bytes > self._bounds.head_bytes and not self._is_last:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin to take a head."""
        self._has_head = self._takes_body = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head; those of a trailer are not merged into it (RFC 9110, 6.5.1)."""
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the request, if it is within its bounds."""
        self._has_head = True
        self._head_bytes = 0
        if self._is_last:
            return
        head_bytes = len(self.url) + sum([len(n) + len(v) + 4 for n, v in self.headers])
        if head_bytes > self._bounds.head_bytes:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        if self.transport.is_closing() or self._is_answered_at_once():
            return
        named = dict(self.headers)
        if named.get(b"transfer-encoding", b"chunked").strip().lower() != b"chunked":
            self._refuse(HTTPStatus.NOT_IMPLEMENTED)
            return
        upgrades = self.parser.should_upgrade()
        if upgrades and not _BODY_HEADERS.isdisjoint(named):
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        if len(self.pipeline) >= self._bounds.ahead:
            self._end_here()
            return
        if not self.url.startswith((b"/", b"*")):
            self._take_host_of_url()
        super().on_headers_complete()
        self._takes_body = True
        if not self.pipeline:
            self._answered = self.cycle
        if upgrades:
            # Nothing is upgraded, and what follows may be meant for another protocol.
            self._end_here()

    def _end_here(self) -> None:
        """Take nothing behind the request that was begun last, and say so in its answer."""
        self._is_last = True
        self.cycle.keep_alive = False

    def _take_host_of_url(self) -> None:
        """That of a whole URL as target counts, not the header (RFC 9112, 3.2.2)."""
        url = httptools.parse_url(self.url)
        host = b"%b:%d" % (url.host, url.port) if url.port else url.host
        others = [header for header in self.headers if header[0] != b"host"]
        self.headers[:] = [(b"host", host), *others]

    def _is_answered_at_once(self) -> bool:
        """Whether the request that was parsed had its answer at once."""
        parser = self.parser
        if (
            not self._may_be_at_once
            or self.expect_100_continue
            or parser.get_method() != b"GET"
            or not self.url.startswith(b"/")
            or parser.get_http_version() != "1.1"
            or not parser.should_keep_alive()
            or parser.should_upgrade()
            or not _BODY_HEADERS.isdisjoint([name for name, _ in self.headers])
        ):
            return False
        path, _, query = self.url.partition(b"?")
        if b"#" in query or not self._is_answered(path, query):
            return False
        self._may_be_at_once = False
        self._known_headers = self._headers_of_whole
        return True

    def _is_answered(self, path: bytes, query: bytes) -> bool:
        transport = self.transport
        if (
            self._at_once is None
            or not self._is_free
            or self.app is _too_many
            or transport.is_closing()
            or transport.get_write_buffer_size()
        ):
            return False
        answer = self._at_once(path, query, self.headers)
        if answer is None:
            return False
        state = self.server_state
        transport.write(b"".join((_head_of(tuple(state.default_headers)), *answer)))
        state.total_requests += 1
        self._free_since_s = self._received_s
        self._has_answered = True
        return True

    def on_body(self, body: bytes) -> None:
        """Of a request that was begun."""
        self._head_bytes = 0
        if self._takes_body:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Of a request that was begun."""
        self._head_bytes = 0
        if self._takes_body:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """The next one may come, or is there."""
        self._free_since_s = self.loop.time()
        if self.pipeline:
            self._answered, _ = self.pipeline[-1]
        super().on_response_complete()
        if self._refused is not None and self._is_free:
            self._refuse(self._refused)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the application; uvicorn tells only that of the request that came last."""
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note since when the client reads too little."""
        self._paused_s = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """It reads."""
        self._paused_s = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, and the request of which it would be the body."""
        if self._takes_body and self.cycle.more_body and not self.cycle.response_complete:
            self._give_up()
        self._refuse(HTTPStatus.BAD_REQUEST)

    def _give_up(self) -> None:
        """Answer the request that was begun last no more."""
        cycle: RequestResponseCycle = self.cycle
        if cycle is not self._answered:
            self.pipeline.popleft()
            before: Any = self.pipeline[0][0] if self.pipeline else self._answered
            self.cycle = before
        elif cycle.response_started:
            self.transport.abort()
        else:
            cycle.disconnected = cycle.response_complete = True
            cycle.message_event.set()

    @property
    def _is_free(self) -> bool:
        """Whether no request is under way."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def check(self, now_s: float) -> None:
        """End the connection if it has been idle, or its client slow, for too long."""
        bounds, is_free = self._bounds, self._is_free
        free_s = now_s - self._free_since_s
        if is_free and not self.transport.get_write_buffer_size():
            if free_s > bounds.head_s and self._head_bytes:
                self._refuse(HTTPStatus.REQUEST_TIMEOUT)
            elif free_s > (bounds.idle_s if self._has_answered else bounds.head_s):
                self.transport.close()
        elif (
            (is_free and free_s > bounds.stalled_s)
            or (self._paused_s is not None and now_s - self._paused_s > bounds.stalled_s)
            or (self._waits_for_body and now_s - self._received_s > bounds.stalled_s)
        ):
            self.transport.abort()

    @property
    def _waits_for_body(self) -> bool:
        return not self._is_free and self.cycle.more_body and not self.flow.read_paused

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer what is not a request, or not yet, behind the answers before it; and close."""
        self._is_last = True
        if not self._is_free:
            self._refused = status
        elif not self.transport.is_closing():
            line = f"{status.value} {status.phrase}\n"
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\n"
                "content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
                f"content-length: {len(line)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write((head + line).encode("ascii"))
            self.transport.close()


@lru_cache(maxsize=2)
def _head_of(headers: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """The first lines of a response, to be followed by those of its answer."""
    return b"HTTP/1.1 200 OK\r\n" + b"".join(b"%b: %b\r\n" % header for header in headers)


class BoundedServer(uvicorn.Server):
    """Serves until SIGINT, SIGTERM or SIGHUP, or until the process `parent` is gone.

    The application may have a method `at_once`.
    """

    def __init__(
        self,
        application: Application,
        *,
        bounds: Bounds = Bounds(),
        parent: int | None = None,
    ) -> None:
        at_once: AtOnce | None = getattr(application, "at_once", None)
        super().__init__(
            uvicorn.Config(
                application,
                http=partial(BoundedProtocol, bounds=bounds, at_once=at_once),  # type: ignore[arg-type]
                loop="uvloop",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                headers=[("server", "pinakes")],
                timeout_keep_alive=bounds.idle_s,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._parent = parent

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to end."""
        if counter % _TICKS_A_SECOND == 0:
            now_s = asyncio.get_running_loop().time()
            for connection in tuple(self.server_state.connections):
                connection.check(now_s)  # type: ignore[union-attr]
            if self._parent is not None and os.getppid() != self._parent:
                self.should_exit = True
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the server, and are not raised again: the caller goes on."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # What was ignored stays ignored: `nohup pinakes …`, or Ctrl-C that the parent answers.
        wanted = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        before: dict[int, Any] = {n: signal.signal(n, self.handle_exit) for n in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    application: Application, sockets: Sequence[socket.socket], *, parent: int | None = None
) -> None:
    """Answer on these sockets until a signal comes, then give the answers under way."""
    _allow_open_files()
    BoundedServer(application, parent=parent).run(sockets=list(sockets))


def _allow_open_files() -> None:
    """Raise the soft limit, so that connections and files of the store do not reach it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

"""An HTTP/1.1 connection: requests parsed by httptools, each answered by an ASGI application.

With bounds on what a client may hold of a process, and for how long.  A request's own size and
time are its application's: `asgi.read_body`.  `check` is called once a second, so that a request
pays nothing for it.

Source: RFC 9112.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools

from .asgi import Application, Receive, Scope, Send, send_line
from .exchange import Exchange, begin
from .request_heads import Head, KnownHead, headers_for, parts_of

_ASGI = {"version": "3.0", "spec_version": "2.3"}
_CLOSE = (b"connection", b"close")
_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})


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


class Served:
    """What the connections of a server have in common; `lead` are the first headers of each
    response."""

    def __init__(self, application: Application, bounds: Bounds) -> None:
        self.application = application
        self.bounds = bounds
        self.connections: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.lead = b""


async def _too_many(scope: Scope, receive: Receive, send: Send) -> None:
    words = "Service Unavailable: too many connections"
    await send_line(send, 503, words, [(b"retry-after", b"2"), _CLOSE])


class Connection(asyncio.Protocol):
    """Requests that are sent ahead are answered in their order."""

    transport: asyncio.Transport

    def __init__(self, served: Served, loop: asyncio.AbstractEventLoop) -> None:
        self._served = served
        self._bounds = served.bounds
        self._loop = loop
        self._application = served.application
        self._parser = httptools.HttpRequestParser(self)
        self._exchanges: deque[Exchange] = deque()
        """Not answered whole yet; the first is being answered, or its turn has come."""
        self._taken: Exchange | None = None
        """The one whose body is being taken."""
        self._may_begin = False
        self._is_between = True
        """Whether the parser waits for the first byte of a request."""
        self._begun = 0
        """Requests in what came last."""
        self._head: Head | None = None
        self._known = KnownHead()
        self._server: tuple[str, int] | None = None
        self._free_since_s = self._received_s = loop.time()
        self._has_answered = self._is_last = self._has_head = False
        self._refused: HTTPStatus | None = None
        self._head_bytes = self._most_bytes = self._piece_bytes = 0
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._is_reading = True
        self.is_paused = False
        self._paused_s = 0.0
        self._writable = asyncio.Event()

    @property
    def lead(self) -> bytes:
        """The first headers of each response."""
        return self._served.lead

    # --- the transport's calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, unless there are too many."""
        self.transport = transport
        self._server = transport.get_extra_info("sockname")[:2]
        self._served.connections.add(self)
        if len(self._served.connections) > self._bounds.most:
            transport.abort()
        elif len(self._served.connections) > self._bounds.many:
            self._application = _too_many

    def data_received(self, data: bytes) -> None:
        """Parse; a head that is too large ends it."""
        self._received_s = self._loop.time()
        if self._is_last:
            return
        # Of requests sent ahead only the first, so that other clients have their turn.
        self._may_begin = True
        is_alone = self._is_between and not self._exchanges and len(data) <= self._bounds.head_bytes
        if is_alone and (found := self._known.find(data)) is not None:
            self._head_bytes = 0
            if not self.transport.is_closing():
                self._take(*found)
            return
        self._piece_bytes = len(data)
        self._head_bytes += len(data)
        self._most_bytes += len(data)
        self._begun, self._head = 0, None
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # nothing is upgraded
        except httptools.HttpParserError:
            self._refuse_unparsed()
            return
        if self._head_bytes > self._bounds.head_bytes and not self._is_last:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if is_alone and self._begun == 1:
            self._known.learn(data, self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client no longer waits for any response."""
        self._served.connections.discard(self)
        for exchange in self._exchanges:
            exchange.leave()
        self.resume_writing()

    def pause_writing(self) -> None:
        """The client reads too little."""
        self.is_paused, self._paused_s = True, self._loop.time()
        self._writable.clear()

    def resume_writing(self) -> None:
        """It reads."""
        self.is_paused = False
        self._writable.set()

    # --- the parser's calls

    def on_message_begin(self) -> None:
        """Begin to take a head."""
        self._has_head, self._taken, self._is_between = False, None, False
        self._begun += 1
        self._most_bytes = self._piece_bytes
        self._url, self._headers = b"", []

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head; those of a trailer are not merged into it (RFC 9110, 6.5.1)."""
        if not self._has_head:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Take the request, if it is within its bounds."""
        self._has_head = True
        self._head_bytes = 0
        if self._is_last or self.transport.is_closing():
            return
        bounds = self._bounds
        # A head need not be measured where all pieces that it is in are so few bytes.
        if self._most_bytes > bounds.head_bytes and self._size_of_head() > bounds.head_bytes:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        named = dict(self._headers)
        has_body = not _BODY_HEADERS.isdisjoint(named)
        coding = named.get(b"transfer-encoding") if has_body else None
        if coding is not None and coding.strip().lower() != b"chunked":
            self._refuse(HTTPStatus.NOT_IMPLEMENTED)
            return
        upgrades = self._parser.should_upgrade()
        if upgrades and has_body:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        if len(self._exchanges) > bounds.ahead:
            self._is_last, self._exchanges[-1].keeps = True, False
            return
        # Nothing is upgraded, and what follows may be meant for another protocol.
        self._is_last = upgrades
        version = self._parser.get_http_version()
        self._head = Head(
            self._parser.get_method().decode("ascii"),
            version,
            headers_for(self._url, self._headers),
            keeps=not upgrades and version != "1.0" and self._parser.should_keep_alive(),
            expects=named.get(b"expect", b"").lower() == b"100-continue",
            has_body=has_body,
        )
        self._take(*parts_of(self._url), self._head)

    def _size_of_head(self) -> int:
        return len(self._url) + sum([len(n) + len(v) + 4 for n, v in self._headers])

    def on_body(self, body: bytes) -> None:
        """Of a request that was taken."""
        self._head_bytes = 0
        if self._taken is not None and not self._taken.add(body):
            self._read_no_more()

    def on_message_complete(self) -> None:
        """Of a request that was taken."""
        self._head_bytes = 0
        self._is_between = True
        if self._taken is not None:
            self._taken.complete_body()

    # --- requests

    def _take(self, path: bytes, query: bytes, head: Head) -> None:
        """The request of this target."""
        text = path.decode("ascii")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": head.version,
            "method": head.method,
            "scheme": "http",
            "server": self._server,
            "root_path": "",
            "path": unquote(text) if "%" in text else text,
            "raw_path": path,
            "query_string": query,
            "headers": head.headers,
        }
        exchange = Exchange(self, scope, keeps=head.keeps, expects=head.expects)
        self._taken = exchange
        exchange.has_all = not head.has_body
        self._exchanges.append(exchange)
        if len(self._exchanges) > 1:
            self._read_no_more()
        elif self._may_begin and not head.has_body:
            task = begin(self._loop, self._answer(exchange))
            if task is not None:
                self._keep(task)
        else:
            self._loop.call_soon(self._begin, exchange)
        self._may_begin = False

    def _begin(self, exchange: Exchange) -> None:
        if not exchange.is_gone:
            self._keep(self._loop.create_task(self._answer(exchange)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        """Nothing else does while it waits."""
        self._served.tasks.add(task)
        task.add_done_callback(self._served.tasks.discard)

    async def _answer(self, exchange: Exchange) -> None:
        try:
            await self._application(exchange.scope, exchange.receive, exchange.send)
        except Exception:  # one that answers by itself has none
            logging.getLogger(__name__).exception("an application failed")
        finally:
            if not exchange.is_complete and not exchange.is_gone:
                self.transport.close()  # its rest is missing, and nothing says where it ends

    def end_response(self) -> None:
        """The response of the first request is complete: the next one may come, or is there."""
        exchange = self._exchanges.popleft()
        self._free_since_s = self._loop.time()
        self._has_answered = True
        if not exchange.keeps:
            self.transport.close()
        elif self._exchanges:
            self._loop.call_soon(self._begin, self._exchanges[0])
        elif self._refused is not None:
            self._refuse(self._refused)
        if not self._is_reading:
            self.read_on()

    # --- what a client may hold

    def read_on(self) -> None:
        """Take more from the client."""
        if not self._is_reading and not self.transport.is_closing():
            self._is_reading = True
            self.transport.resume_reading()

    def _read_no_more(self) -> None:
        if self._is_reading and not self.transport.is_closing():
            self._is_reading = False
            self.transport.pause_reading()

    async def writable(self) -> None:
        """Wait until the client has read."""
        await self._writable.wait()

    def shut_down(self) -> None:
        """Give the response under way, and close."""
        if not self._exchanges:
            self.transport.close()
        else:
            self._exchanges[0].keeps = False

    def check(self, now_s: float) -> None:
        """End the connection if it has been idle, or its client slow, for too long."""
        bounds, is_free = self._bounds, not self._exchanges
        free_s = now_s - self._free_since_s
        if is_free and not self.transport.get_write_buffer_size():
            if free_s > bounds.head_s and self._head_bytes:
                self._refuse(HTTPStatus.REQUEST_TIMEOUT)
            elif free_s > (bounds.idle_s if self._has_answered else bounds.head_s):
                self.transport.close()
        elif (
            (is_free and free_s > bounds.stalled_s)
            or (self.is_paused and now_s - self._paused_s > bounds.stalled_s)
            or (self._waits_for_body and now_s - self._received_s > bounds.stalled_s)
        ):
            self.transport.abort()

    @property
    def _waits_for_body(self) -> bool:
        return bool(self._exchanges) and not self._exchanges[0].has_all and self._is_reading

    def _refuse_unparsed(self) -> None:
        """Refuse what is not HTTP, and the request of which it would be the body."""
        taken = self._taken
        if taken is not None and not taken.has_all and not taken.is_complete:
            if taken.is_begun:
                self.transport.abort()
                return
            taken.leave()
            self._exchanges.remove(taken)
        self._refuse(HTTPStatus.BAD_REQUEST)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer what is not a request, or not yet, after the responses before it; and close."""
        self._is_last = True
        if self._exchanges:
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

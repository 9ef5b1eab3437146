"""A request and its response on an HTTP/1.1 connection, as an ASGI application sees them.

Source: the ASGI specification, version 3 (`http` connections); RFC 9112, sections 6 and 7.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator
from functools import lru_cache
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol

from .asgi import Message, Scope

BODY_BYTES = 64 << 10
"""Of a request's body that wait for the application; then the connection is read no further."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = b"connection: close\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_NO_BODY = (204, 304)


class Wire(Protocol):
    """The connection of an exchange."""

    transport: asyncio.Transport
    is_paused: bool
    """Whether the client reads too little."""

    @property
    def lead(self) -> bytes:
        """The first headers of each response."""

    def read_on(self) -> None:
        """Take more from the client."""

    async def writable(self) -> None:
        """Wait until the client has read."""

    def end_response(self) -> None:
        """The response is complete."""


class Exchange:
    """`keeps`: whether the connection stays open.  `expects`: the client waits for 100 Continue."""

    has_all = False
    """Whether the whole body of the request has come."""
    is_begun = False
    """Whether a part of the response was sent."""
    is_complete = False
    """Whether all of it was."""
    is_gone = False
    """Whether the client no longer waits for it."""
    _body = b""
    _is_read = False
    _event: asyncio.Event | None = None
    _head: _Head | None = None
    _is_chunked = False
    _left: int | None = None

    def __init__(self, wire: Wire, scope: Scope, *, keeps: bool, expects: bool) -> None:
        # What most exchanges leave as it is stands with the class.
        self.scope = scope
        self.keeps = keeps
        self._wire = wire
        self._expects = expects

    def add(self, body: bytes) -> bool:
        """Take a part of the request's body; whether more may come now."""
        self._body += body
        self._wake()
        return len(self._body) <= BODY_BYTES

    def complete_body(self) -> None:
        """The whole body has come."""
        self.has_all = True
        self._wake()

    def leave(self) -> None:
        """The client no longer waits for the response."""
        self.is_gone = True
        self._wake()

    def _wake(self) -> None:
        if self._event is not None:
            self._event.set()

    async def receive(self) -> Message:
        """A part of the body; after it, that the client no longer waits."""
        if self._expects:
            self._expects = False
            self._wire.transport.write(_CONTINUE)
        while not (self.is_gone or self.is_complete):
            if self._body or (self.has_all and not self._is_read):
                body, self._body, self._is_read = self._body, b"", self.has_all
                return {"type": "http.request", "body": body, "more_body": not self.has_all}
            self._wire.read_on()
            self._event = self._event or asyncio.Event()
            await self._event.wait()
            self._event.clear()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a part of the response; its head goes with the first part of its body.

        Raises:
            RuntimeError: a header has a line end, or the body is not as long as stated.
        """
        if self._wire.is_paused:
            await self._wire.writable()
        if self.is_gone:
            return
        if self._head is None:
            self._expects = False
            self._head = _head_of(message["status"], tuple(message["headers"]))
            self._left = self._head.length
            return
        piece, more = message.get("body", b""), message.get("more_body", False)
        lead = b"" if self.is_begun else self._lead(self._head, piece, is_whole=not more)
        if self.scope["method"] == "HEAD":
            piece = b""
        elif self._is_chunked:
            piece = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
            piece += b"" if more else b"0\r\n\r\n"
        elif self._left is not None:
            self._left -= len(piece)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the body is not as long as its Content-Length")
        if lead or piece:
            self._wire.transport.write(lead + piece)
        if not more:
            self.is_complete = True
            self._wake()
            self._wire.end_response()

    def _lead(self, head: _Head, piece: bytes, *, is_whole: bool) -> bytes:
        """The head of the response, whose body begins with this piece, or is it."""
        self.is_begun = True
        more, may_be_more = b"", head.length is None and head.status not in _NO_BODY
        if may_be_more and is_whole and piece:
            more = b"content-length: %d\r\n" % len(piece)
        elif may_be_more and self.scope["method"] != "HEAD":
            if is_whole:
                more = b"content-length: 0\r\n"
            elif self.scope["http_version"] == "1.1":
                self._is_chunked, more = True, _CHUNKED
            else:
                self.keeps = False  # the end of the connection ends the body
        if head.says_close:
            self.keeps = False
        elif not self.keeps:
            more += _CLOSE
        return b"".join((head.status_line, self._wire.lead, head.lines, more, b"\r\n"))


class _Head(NamedTuple):
    """The head of a response, but for what the server adds; `length` is the stated one."""

    status: int
    status_line: bytes
    lines: bytes
    length: int | None
    says_close: bool


@lru_cache(maxsize=256)
def _head_of(status: int, headers: tuple[tuple[bytes, bytes], ...]) -> _Head:
    """Most responses have the headers of many others."""
    lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    if not len(headers) == lines.count(b"\r") == lines.count(b"\n"):
        raise RuntimeError("a header has a line end")
    named = dict(headers)
    length = named.get(b"content-length")
    line = f"HTTP/1.1 {int(status)} {HTTPStatus(status).phrase}\r\n".encode("ascii")
    stated = None if length is None else int(length)
    return _Head(status, line, lines, stated, b"connection" in named)


def begin(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]
) -> asyncio.Task[None] | None:
    """Run a coroutine until it waits; its task, which does the rest, or None where it has ended.

    Most answers never wait, and a task would cost as much as they.  Python 3.12 has eager tasks,
    which do the same.

    Raises what the coroutine raises before it waits.
    """
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return None
    return loop.create_task(_rest_of(coroutine, waits_for))


async def _rest_of(begun: Coroutine[Any, Any, None], waits_for: object) -> None:
    await _resumed(begun, waits_for)


@types.coroutine
def _resumed(begun: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    while True:
        try:
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - a cancellation is the coroutine's
                waits_for = begun.throw(error)
            else:
                waits_for = begun.send(None)
        except StopIteration:
            return

"""A request and its response on an HTTP/1.1 connection, as an ASGI application sees them.

Source: the ASGI specification, version 3 (`http` connections); RFC 9112, sections 6 and 7.
"""

from __future__ import annotations

import asyncio
from functools import cache
from http import HTTPStatus
from typing import Protocol

from .asgi import HeaderList, Message, Scope

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

    __slots__ = (
        "_body",
        "_event",
        "_expects",
        "_head",
        "_is_chunked",
        "_is_read",
        "_left",
        "_wire",
        "has_all",
        "is_begun",
        "is_complete",
        "is_gone",
        "keeps",
        "scope",
    )

    def __init__(self, wire: Wire, scope: Scope, *, keeps: bool, expects: bool) -> None:
        self.scope = scope
        self.keeps = keeps
        self.has_all = False
        """Whether the whole body of the request has come."""
        self.is_begun = False
        """Whether a part of the response was sent."""
        self.is_complete = False
        """Whether all of it was."""
        self.is_gone = False
        """Whether nobody waits for it any longer."""
        self._wire = wire
        self._expects = expects
        self._body = bytearray()
        self._is_read = False
        self._event: asyncio.Event | None = None
        self._head = b""
        self._is_chunked = False
        self._left: int | None = None

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
        """Nobody waits for the response any longer."""
        self.is_gone = True
        self._wake()

    def _wake(self) -> None:
        if self._event is not None:
            self._event.set()

    async def receive(self) -> Message:
        """A part of the body; behind it, that nobody waits any longer."""
        if self._expects:
            self._expects = False
            self._wire.transport.write(_CONTINUE)
        while not (self.is_gone or self.is_complete):
            if self._body or (self.has_all and not self._is_read):
                body, self._is_read = bytes(self._body), self.has_all
                self._body.clear()
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
        if not self._head:
            self._expects = False
            self._head = self._head_of(message["status"], message["headers"])
            return
        piece, more = message.get("body", b""), message.get("more_body", False)
        if self.scope["method"] == "HEAD":
            piece = b""
        elif self._is_chunked:
            piece = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
            piece += b"" if more else b"0\r\n\r\n"
        elif self._left is not None:
            self._left -= len(piece)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the body is not as long as its Content-Length")
        if not self.is_begun:
            self.is_begun = True
            piece = self._head + piece
        if piece:
            self._wire.transport.write(piece)
        if not more:
            self.is_complete = True
            self._wake()
            self._wire.end_response()

    def _head_of(self, status: int, headers: HeaderList) -> bytes:
        lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        if not len(headers) == lines.count(b"\r") == lines.count(b"\n"):
            raise RuntimeError("a header has a line end")
        says_close = False
        for name, value in headers:
            if name == b"content-length":
                self._left = int(value)
            elif name == b"connection":
                says_close, self.keeps = True, False
        if self._left is None and self.scope["method"] != "HEAD" and status not in _NO_BODY:
            if self.scope["http_version"] == "1.1":
                self._is_chunked = True
                lines += _CHUNKED
            else:
                self.keeps = False  # the end of the connection ends the body
        close = b"" if self.keeps or says_close else _CLOSE
        return b"".join((_status_line(status), self._wire.lead, lines, close, b"\r\n"))


@cache
def _status_line(status: int) -> bytes:
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode("ascii")

"""ASGI in our words: the types of applications, whole answers, and request bodies.

Source: the ASGI specification, version 3 (`http` connections).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]
HeaderList = Sequence[tuple[bytes, bytes]]

TEXT = b"text/plain; charset=utf-8"


class BodyRefused(Exception):
    """The body of a request is too large, or comes too slowly; `status` says which."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class ClientGone(Exception):
    """The client has closed the connection: there is no one to answer."""


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header, whose name is in lower case."""
    return [value for key, value in scope["headers"] if key == name]


async def send_whole(
    send: Send, status: int, body: bytes, *, content_type: bytes = TEXT, headers: Headers = ()
) -> None:
    """Send a response of one piece, of which the server says the length.

    It leaves out the body where HEAD was asked.
    """
    start = ((b"content-type", content_type), *headers)
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def send_line(send: Send, status: int, words: str = "", headers: Headers = ()) -> None:
    """Send one plain line: the status and, unless there are `words`, its phrase."""
    phrase = words or HTTPStatus(status).phrase
    line = f"{int(status)} {phrase}\n".encode("ascii", "backslashreplace")
    await send_whole(send, status, line, headers=headers)


async def read_body(receive: Receive, *, most_bytes: int, timeout_s: float) -> bytes:
    """The whole body of a request.

    Raises:
        BodyRefused: it is larger, or has not come in this time.
        ClientGone: before it had all come.
    """
    until_s = time.monotonic() + timeout_s
    body = bytearray()
    while True:
        coming = asyncio.ensure_future(receive())
        await asyncio.wait({coming}, timeout=until_s - time.monotonic())
        if not coming.done():
            coming.cancel()
            raise BodyRefused(HTTPStatus.REQUEST_TIMEOUT)
        message = coming.result()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > most_bytes:
            raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not message.get("more_body", False):
            return bytes(body)

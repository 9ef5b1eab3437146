"""Responses whose body is computed piece by piece, from stores that may block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

from .asgi import ClientGone, Headers, Receive, Send, send_whole

T = TypeVar("T")
WHOLE_BYTES = 256 << 10
"""A body up to this is sent whole, with its length and what is known only at its end."""
_FEW = 3
"""Pieces before it is asked whether the client is still there: most answers have fewer."""


async def send_pieces(
    receive: Receive,
    send: Send,
    pieces: Iterator[bytes],
    *,
    content_type: bytes,
    threads: Executor | None,
    headers_at_end: Callable[[], Headers] = tuple,
) -> None:
    """Send a body.  Pieces may be empty: between any two, other requests have their turn.

    `threads`: where pieces are computed; None: in the event loop, if none of them takes long.
    `headers_at_end` are those of a body that is sent whole.  What is raised before the response
    has begun is the caller's; a client that goes away ends the computation.
    """
    body = bytearray()
    async with _noticed(receive) as notice:
        count = 0
        while len(body) < WHOLE_BYTES:
            piece = await _next(pieces, threads)
            if piece is None:
                await send_whole(
                    send, 200, bytes(body), content_type=content_type, headers=headers_at_end()
                )
                return
            body += piece
            count += 1
            if count > 1:
                await asyncio.sleep(0)
            if count >= _FEW and notice().done():
                raise ClientGone
    start = [(b"content-type", content_type)]
    await send({"type": "http.response.start", "status": 200, "headers": start})
    await send({"type": "http.response.body", "body": bytes(body), "more_body": True})
    await send_rest(receive, send, partial(_next, pieces, threads))


async def send_rest(
    receive: Receive, send: Send, next_piece: Callable[[], Awaitable[bytes | None]]
) -> None:
    """Send what there is still of a body, until it ends (None) or the client has gone."""
    async with _noticed(receive) as notice:
        gone = notice()
        while not gone.done() and (piece := await next_piece()) is not None:
            if piece:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def _noticed(receive: Receive) -> AsyncIterator[Callable[[], asyncio.Future[None]]]:
    """What begins to wait for the client to go, and gives what is done when it has."""
    gone: list[asyncio.Future[None]] = []

    def notice() -> asyncio.Future[None]:
        if not gone:
            gone.append(asyncio.ensure_future(_gone(receive)))
        return gone[0]

    try:
        yield notice
    finally:
        for one in gone:
            one.cancel()
            with suppress(asyncio.CancelledError):
                await one


async def _next(pieces: Iterator[bytes], threads: Executor | None) -> bytes | None:
    if threads is None:
        return next(pieces, None)
    return await in_thread(threads, next, pieces, None)


async def in_thread(threads: Executor, function: Callable[..., T], *arguments: object) -> T:
    """What a function gives that may block."""
    return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

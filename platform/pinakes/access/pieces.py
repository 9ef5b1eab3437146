"""Responses whose body is computed piece by piece, from stores that may block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress

from .asgi import ClientGone, Headers, Receive, Send, send_whole

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
    gone: asyncio.Future[None] | None = None
    try:
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
            if count == _FEW:
                gone = asyncio.ensure_future(_gone(receive))
            if count > 1:
                await asyncio.sleep(0)
            if gone is not None and gone.done():
                raise ClientGone
        gone = gone or asyncio.ensure_future(_gone(receive))
        start = [(b"content-type", content_type)]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        piece = bytes(body)
        while piece is not None and not gone.done():
            if piece:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
            piece = await _next(pieces, threads)
        await send({"type": "http.response.body", "body": b""})
    finally:
        if gone is not None:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone


async def _next(pieces: Iterator[bytes], threads: Executor | None) -> bytes | None:
    if threads is None:
        return next(pieces, None)
    return await asyncio.get_running_loop().run_in_executor(threads, next, pieces, None)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

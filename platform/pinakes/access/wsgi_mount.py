"""A WSGI site as an ASGI application, on a bounded pool of threads.

A thread is taken when the whole request is there, and given back when the site has answered:
a client that sends or reads slowly holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from a2wsgi import WSGIMiddleware

from .asgi import Message, Receive, Scope, Send, read_body

THREADS = 8
BODY_BYTES = 64 << 10
BODY_S = 10.0
_PIECES = 256
"""Of a response that wait for the client; a file has pieces of 8 KiB, a page has one."""

Wsgi = Callable[[Any, Any], Iterable[bytes]]
"""Of werkzeug, whose types of environment and `start_response` are others than a2wsgi's."""


class WsgiMount:
    """Answers with what the site does, which is called in several threads at once."""

    def __init__(self, site: Wsgi) -> None:
        self._site: Any = WSGIMiddleware(site, workers=THREADS, send_queue_size=_PIECES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the request, then have it answered.

        Raises:
            BodyRefused, ClientGone: as `read_body`.
        """
        body = await read_body(receive, most_bytes=BODY_BYTES, patience_s=BODY_S)
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_read() -> Message:
            return next(messages, {"type": "http.disconnect"})

        await self._site(_for_wsgi(scope, len(body)), receive_read, send)


def _for_wsgi(scope: Scope, body_bytes: int) -> dict[str, Any]:
    """The scope, as CGI's variables need it: ASCII, one length, no two names for one header."""
    kept = [
        (name, value)
        for name, value in scope["headers"]
        if b"_" not in name and name not in (b"content-length", b"transfer-encoding")
    ]
    kept.append((b"content-length", str(body_bytes).encode()))
    query: bytes = scope["query_string"]
    if not query.isascii():
        query = quote(query, safe="%&=+?/:;,@!$'()*~").encode()
    return {**scope, "headers": kept, "query_string": query}

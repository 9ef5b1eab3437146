"""Bodies that are computed piece by piece, and clients that leave meanwhile."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest
from served_sites import GET, PATIENCE_S, connected, served

from pinakes.access.asgi import Receive, Scope, Send, send_line
from pinakes.access.asgi_site import AsgiSite, Route
from pinakes.access.pieces import send_pieces


async def no_page(scope: Scope, receive: Receive, send: Send) -> None:
    await send_line(send, 404)


@pytest.mark.parametrize("piece", [b"", b"x" * 10_000], ids=["nothing yet", "a long body"])
@pytest.mark.parametrize("is_threaded", [False, True], ids=["in the loop", "in threads"])
def test_client_that_leaves_ends_the_work(piece: bytes, is_threaded: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                begun.set()
                yield piece
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as pool:
        threads: Executor | None = pool if is_threaded else None

        async def endless(scope: Scope, receive: Receive, send: Send) -> None:
            await send_pieces(receive, send, pieces(), content_type=b"text/plain", threads=threads)

        site = AsgiSite(
            no_page, hosts=None, headers={}, routes=[Route(re.compile(rb"/endless"), endless)]
        )
        with served(site) as address:
            with connected(address) as connection:
                connection.sendall(GET % b"/endless")
                assert begun.wait(PATIENCE_S)
            assert ended.wait(PATIENCE_S)

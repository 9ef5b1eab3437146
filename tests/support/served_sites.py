"""An ASGI application on a port of loopback, and bytes sent to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from pinakes.access.asgi import Application
from pinakes.access.bounded_server import BoundedServer
from pinakes.access.connection import Bounds

TIMEOUT_S = 60.0
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@contextmanager
def served(application: Application, bounds: Bounds | None = None) -> Iterator[tuple[str, int]]:
    """The address, until the end of the `with`."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=2048)) as listening:
        server = BoundedServer(application, bounds=bounds or Bounds())
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            thread.join(TIMEOUT_S)
        assert not thread.is_alive()


@contextmanager
def connected(address: tuple[str, int], **options: Any) -> Iterator[socket.socket]:
    """A connection."""
    with closing(socket.create_connection(address, TIMEOUT_S, **options)) as connection:
        yield connection


def read_all(connection: socket.socket) -> bytes:
    """What comes until the other side closes, however it does."""
    found = bytearray()
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return bytes(found)


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """What is answered to these bytes, until the server closes."""
    with connected(address) as connection:
        connection.sendall(request)
        return read_all(connection)


def status_of(answer: bytes) -> int:
    """The status of a response."""
    return int(answer.split(b" ", 2)[1])

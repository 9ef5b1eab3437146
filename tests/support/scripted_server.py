"""A server on loopback that says what a test has it say, byte for byte."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

Script = bytes | Callable[[socket.socket], None]


def answer(body: bytes = b"", status: str = "200 OK", **fields: str) -> bytes:
    """An answer with its length; `Content_Type="…"` is a header."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    named.setdefault("Content-Type", "text/plain")
    lines = [f"{name}: {value}" for name, value in named.items()]
    head = "\r\n".join((f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", "", ""))
    return head.encode() + body


class ScriptedServer(ThreadingTCPServer):
    """`asked` has each request as it came: its head, and its body."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, scripts: Mapping[str, Script], tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.scripts = dict(scripts)
        self.tls = tls
        self.asked: list[bytes] = []
        self.stopping = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://127.0.0.1:{self.port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up is no error."""


class _Connection(BaseRequestHandler):
    server: ScriptedServer

    def handle(self) -> None:
        connection = self.request
        if self.server.tls is not None:
            connection = self.server.tls.wrap_socket(connection, server_side=True)
        with contextlib.closing(connection):
            head, body = _request(connection)
            self.server.asked.append(head + body)
            path = head.split(b" ")[1].decode() if head else ""
            script = self.server.scripts.get(path, answer(b"not here", "404 Not Found"))
            if isinstance(script, bytes):
                connection.sendall(script)
            else:
                script(connection)
            if self.server.tls is not None:
                with contextlib.suppress(OSError):
                    connection.unwrap()


def _request(connection: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(1 << 16)
        if not more:
            return b"", b""
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while lengths and len(body) < int(lengths[0].split(b":")[1]):
        body += connection.recv(1 << 16)
    return head + b"\r\n\r\n", body


@contextmanager
def scripted(
    scripts: Mapping[str, Script] | None = None, *, tls: ssl.SSLContext | None = None
) -> Iterator[ScriptedServer]:
    """The server, while it is needed."""
    server = ScriptedServer(scripts or {}, tls)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()

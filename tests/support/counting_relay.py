"""A port on loopback that leads to another, and counts what is asked for and what comes back."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

_REQUEST = re.compile(rb"(\w+) /(\S*) HTTP/1.1\r\n(.*?)\r\n\r\n", re.DOTALL)
_RANGE = re.compile(rb"(?:\A|\n)range: *bytes=([\d-]+)", re.IGNORECASE)


class CountingRelay(ThreadingTCPServer):
    """`asked` has each request without a body: `HEAD path`, or `GET path 0-99`."""

    daemon_threads = True

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.target = target
        self.asked: list[str] = []
        self.sent_bytes = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up is no error."""


class _Connection(BaseRequestHandler):
    server: CountingRelay

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.target)) as beyond:
            back = threading.Thread(target=self._send_back, args=(beyond,), daemon=True)
            back.start()
            received = b""
            while data := self.request.recv(1 << 16):
                received += data
                while match := _REQUEST.match(received):
                    received = received[match.end() :]
                    asked_range = _RANGE.search(match[3])
                    words = [*match.group(1, 2), *(asked_range.groups() if asked_range else ())]
                    self.server.asked.append(b" ".join(words).decode())
                beyond.sendall(data)
            beyond.shutdown(socket.SHUT_WR)
            back.join()

    def _send_back(self, beyond: socket.socket) -> None:
        with suppress(OSError):
            while data := beyond.recv(1 << 16):
                self.server.sent_bytes += len(data)
                self.request.sendall(data)
            self.request.shutdown(socket.SHUT_RDWR)


@contextmanager
def counting_relay(target: int) -> Iterator[CountingRelay]:
    """The relay to a port, while it is needed."""
    with CountingRelay(target) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

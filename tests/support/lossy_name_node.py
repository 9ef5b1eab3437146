"""A name node that is heard, and whose answer to one call is lost on the way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HERE = "127.0.0.1"


class LossyNameNode:
    """Passes on what clients say; after a call of `method`, hangs up instead of the answer."""

    def __init__(self, name_node: tuple[str, int], method: str) -> None:
        self._name_node = name_node
        self._method = method.encode()
        self._listening = socket.create_server((HERE, 0))
        self._sockets: list[socket.socket] = [self._listening]
        self.lost = 0
        self.port = self._listening.getsockname()[1]

    def serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._name_node)
                self._sockets += [client, server]
                losing = threading.Event()
                for pump in (self._ask, self._answer):
                    threading.Thread(
                        target=pump, args=(client, server, losing), daemon=True
                    ).start()

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _ask(self, client: socket.socket, server: socket.socket, losing: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                if self._method in data and not self.lost:
                    self.lost += 1
                    losing.set()
                server.sendall(data)

    def _answer(
        self, client: socket.socket, server: socket.socket, losing: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if losing.is_set():
                    break
                client.sendall(data)
        for each in (client, server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def lossy_name_node(host: str, port: int, method: str) -> Iterator[LossyNameNode]:
    """One that serves, until the end of the block."""
    lossy = LossyNameNode((host, port), method)
    thread = threading.Thread(target=lossy.serve, daemon=True)
    thread.start()
    try:
        yield lossy
    finally:
        lossy.close()
        thread.join()

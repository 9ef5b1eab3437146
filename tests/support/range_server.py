"""A web server on loopback that serves a dict, and misbehaves as it is told."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote_to_bytes


class RangeServer(ThreadingHTTPServer):
    """`behave(number, handler)` may answer request `number` itself, and then says True."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = dict(files)
        self.etag = '"1"'
        self.behave: Callable[[int, Handler], bool] = lambda number, handler: False
        self.requests: list[str | None] = []
        self.connections = 0

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is none of our business."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    server: RangeServer

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append(asked)
        if self.server.behave(len(self.server.requests), self):
            return
        content = self.content()
        if content is None:
            self.answer(404, b"not here")
            return
        match = re.match(r"bytes=(\d+)-(\d+)\Z", asked or "")
        if match is None:
            self.answer(200, content)
        elif int(match[1]) >= len(content):
            self.answer(416, b"no such range", {"Content-Range": f"bytes */{len(content)}"})
        else:
            self.answer_range(content, int(match[1]), int(match[2]) + 1)

    def content(self) -> bytes | None:
        name = unquote_to_bytes(self.path.lstrip("/")).decode("utf-8", "surrogateescape")
        return self.server.files.get(name)

    def answer_range(self, content: bytes, start: int, end: int) -> None:
        part = content[start:end]
        where = f"bytes {start}-{start + len(part) - 1}/{len(content)}"
        self.answer(206, part, {"Content-Range": where})

    def answer(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        *,
        length: int | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("ETag", self.server.etag)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if length is not None and length != len(body):
            self.hang_up()

    def hang_up(self) -> None:
        """Break the connection."""
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        pass


_Handler = Handler


@contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[RangeServer]:
    server = RangeServer(files)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

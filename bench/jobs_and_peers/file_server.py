"""A web server on loopback that has the files of a folder, whole or by ranges.

It serves as S3, too: a bucket named `files` is the folder, and nobody's signature is looked at.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

_RANGE = re.compile(r"bytes=(\d+)-(\d*)\Z")


@contextmanager
def serving_files(folder: Path) -> Iterator[str]:
    """Serve the files of a folder by their names while the block runs; yield the server's URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body leave in one write

        def do_GET(self) -> None:
            name = unquote(urlsplit(self.path).path).removeprefix("/files").strip("/")
            # Only names that are listed are opened: nothing that is asked for reaches the disk.
            path = {file.name: file for file in folder.iterdir() if file.is_file()}.get(name)
            if path is None:
                self._answer(404, b"not here\n")
                return
            data = path.read_bytes()
            asked = _RANGE.match(self.headers.get("Range") or "")
            if asked is None:
                self._answer(200, data)
                return
            start = int(asked[1])
            piece = data[start : int(asked[2]) + 1 if asked[2] else None]
            self._answer(206, piece, f"bytes {start}-{start + len(piece) - 1}/{len(data)}")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, status: int, body: bytes, part: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("ETag", '"1"')
            self.send_header("Last-Modified", "Fri, 01 Mar 2024 10:00:00 GMT")
            if part is not None:
                self.send_header("Content-Range", part)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_request(self, *_: object) -> None:
            """Keep quiet about each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()

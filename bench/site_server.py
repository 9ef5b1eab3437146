"""An HTTP/1.1 server on loopback: a thread a connection, keep-alive, known paths only.

A function answers for a path with its body or with None: nothing else is served, and no
request reaches the file system by a name of its own.
"""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

MODIFIED = formatdate(1_700_000_000, usegmt=True)
Answer = Callable[[str], bytes | None]


def answering(answer: Answer) -> type[BaseHTTPRequestHandler]:
    """Return a handler that answers GET of a path with `answer(path)`, 404 where that is None."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "Apache/2.4"
        sys_version = ""
        wbufsize = -1  # head and body leave in one write
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path = urlsplit(self.path).path  # a proxy's client asks with the whole URL
            found = answer(path)
            body = b"not found\n" if found is None else found
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", media_type(".txt" if found is None else path))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", MODIFIED)
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, *_: object) -> None:
            """Keep quiet about each request."""

    return Handler


def media_type(path: str) -> str:
    """Return the Content-Type for a path's ending; a folder's is its index page's."""
    kind = (
        mimetypes.guess_type(path + "index.html" if path.endswith("/") else path)[0]
        or "application/octet-stream"
    )
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


@contextmanager
def serving(answer: Answer, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve `answer` on a free port of a loopback address while the block runs; yield its URL.

    Used as a proxy (`http_proxy`), it stands for any host, and URLs need no port.
    """
    server = ThreadingHTTPServer((host, 0), answering(answer))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

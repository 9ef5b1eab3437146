"""Sockets, TLS and HTTP/1.1 of the proxy: a thread for each connection of a browser.

    GET http://…            answered
    CONNECT host:443        200, then TLS by a certificate for that host, then requests
    CONNECT host:80         200, then requests without TLS (a browser's WebSockets, say)

All that a browser could make it hold is limited: connections, lines, headers, bodies, idle time.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from pinakes.access.byte_range import parse_range
from pinakes.errors import MissingExtra, PinakesError
from pinakes.index.post_query import BODY_LIMIT_BYTES, method_query
from pinakes.warc.http.codings import Undecodable, named_codings, undone

from .certificates import Authority
from .request import (
    ProxyRequest,
    Tunnel,
    clean_request_line,
    original_uri,
    parse_authority,
)
from .sending import Sender

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 256
TIMEOUT_S = 60.0
"""How long a client may neither send nor receive."""
IDLE_S = 5.0
"""How long a connection stays open between requests; browsers open another if needed."""
Respond = Callable[[ProxyRequest | None, Message, Sender], None]
"""Answers a request; None is one that names no original URL."""
_STOP_TIMEOUT_S = 10.0
_LINE_LIMIT_BYTES = 1 << 16
_DRAIN_LIMIT_BYTES = 1 << 28
_WRITE_BYTES = 1 << 16
_TLS_HANDSHAKE = b"\x16"


class ProxyServer(ThreadingTCPServer):
    """Listens on loopback, on a port of its own; `stop` ends it and its connections.

    `respond` answers one request; several connections call it at once.
    """

    allow_reuse_address = False
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, respond: Respond, authority: Authority) -> None:
        self.respond = respond
        self.authority = authority
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._stopping = False
        super().__init__((LOOPBACK, 0), _Connection)
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, name="replay", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for a connection, once there is room for it; others wait in the queue."""
        while not self._room.acquire(timeout=0.1):
            if self._stopping:
                self.shutdown_request(request)
                return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection, to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: the page's log has the requests of a broken connection."""

    @contextlib.contextmanager
    def known(self, connection: socket.socket) -> Iterator[None]:
        """Within, `stop` ends this connection."""
        with self._lock:
            if self._stopping:
                raise OSError("the server was stopped")
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def stop(self) -> None:
        """Listen no more, and end every connection; idempotent.

        Waits for open requests, since the stores may be closed afterwards.
        """
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
            connections = list(self._open)
        self.shutdown()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        self._thread.join()
        for _ in range(MOST_CONNECTIONS):
            if not self._room.acquire(timeout=_STOP_TIMEOUT_S):
                break


class _Connection(BaseHTTPRequestHandler):
    """One connection: requests one after the other, inside a tunnel or not."""

    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_S
    wbufsize = _WRITE_BYTES
    disable_nagle_algorithm = True
    server: ProxyServer
    _tunnel: Tunnel | None = None

    def handle(self) -> None:
        with self.server.known(self.connection), contextlib.suppress(OSError):
            super().handle()

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()
        if self.connection is not self.request:
            # TLS replaced the socket; the server closes only the original one.
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            self.connection.close()

    def handle_one_request(self) -> None:
        """Read a request and answer it; sets `close_connection` after the last."""
        self.close_connection = True
        self.raw_requestline = self.rfile.readline(_LINE_LIMIT_BYTES + 1)
        self.connection.settimeout(TIMEOUT_S)
        if not self.raw_requestline:
            return
        cleaned = clean_request_line(self.raw_requestline)
        too_long = len(self.raw_requestline) > _LINE_LIMIT_BYTES
        if too_long or cleaned is None:
            self.requestline, self.command, self.request_version = "", "", self.protocol_version
            self.send_error(414 if too_long else 400)
        else:
            self.raw_requestline = cleaned
            if self.parse_request():
                if self.command == "CONNECT":
                    self._connect()
                else:
                    self._exchange()
        self.wfile.flush()
        if not self.close_connection:
            self.connection.settimeout(IDLE_S)

    def _connect(self) -> None:
        tunnel = parse_authority(self.path)
        if tunnel is None or self._tunnel is not None:
            self.send_error(400)
            self.close_connection = True
            return
        try:
            context = self.server.authority.context(tunnel.host)
        except PinakesError:
            self.send_error(400)
            self.close_connection = True
            return
        self.wfile.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        self.wfile.flush()
        if self.connection.recv(1, socket.MSG_PEEK) == _TLS_HANDSHAKE:
            self._speak_tls(context)
            self._tunnel = tunnel
        else:
            self._tunnel = Tunnel(host=tunnel.host, port=tunnel.port, scheme="http")
        self.close_connection = False
        with self.server.known(self.connection):
            while not self.close_connection:
                self.handle_one_request()

    def _speak_tls(self, context: ssl.SSLContext) -> None:
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb", self.rbufsize)
        self.wfile = self.connection.makefile("wb", _WRITE_BYTES)

    def _exchange(self) -> None:
        target = self.raw_requestline.split()[1].decode("ascii", "surrogateescape")
        uri = original_uri(target, self._tunnel)
        body = self._read_body()
        if body is None:
            self.send_error(411)
            self.close_connection = True
            return
        request = uri and ProxyRequest(
            method=self.command,
            uri=uri,
            query=self._query(body),
            range=parse_range(self.headers.get("Range")),
            body=body,
        )
        sender = Sender(self.wfile, close=self.close_connection)
        self.server.respond(request or None, self.headers, sender)
        self.close_connection = sender.close

    def _query(self, body: bytes) -> str | None:
        # HEAD is answered from captures of GET.
        method = "GET" if self.command == "HEAD" else self.command
        content_type = self.headers.get("Content-Type")
        codings = named_codings(self.headers.get_all("Content-Encoding", []))
        length = BODY_LIMIT_BYTES if codings and body else len(body)
        try:
            plain = undone(iter([body]), codings, BODY_LIMIT_BYTES)
            return method_query(method, content_type, str(length), plain)
        except (Undecodable, MissingExtra):
            return method_query(method, content_type, str(len(body)), [body])

    def _read_body(self) -> bytes | None:
        """The first bytes of the request's body; None if its length is not given."""
        if "Transfer-Encoding" in self.headers:
            return None
        text = self.headers.get("Content-Length", "0").strip()
        if not (text.isascii() and text.isdigit()) or int(text[:19]) > _DRAIN_LIMIT_BYTES:
            return None
        left = int(text)
        kept = self.rfile.read(min(left, BODY_LIMIT_BYTES))
        left -= len(kept)
        while left > 0 and (piece := self.rfile.read(min(left, _WRITE_BYTES))):
            left -= len(piece)
        return kept

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (its name there)
        """Nothing: requests are in the page's log."""

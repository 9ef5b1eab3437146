"""A request made of a real server, and its answer as it came: bytes, and what they mean.

One connection a request, HTTP/1.1, over a plain socket: what a recording keeps is what the
server sent, chunk sizes and all, and no library has undone it.

    request ──▶ head (1xx passed over) ──▶ pieces: as sent, and with the chunks taken off

Source: RFC 9112 §6 (where a body ends), §9.6 (Connection: close).
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.message import Message
from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.errors import StoreUnavailable
from pinakes.qa.replay.request import ProxyRequest
from pinakes.warc.http import Dechunker, HttpHead, head_end

PATIENCE_S = 30.0
"""For how long a server may neither send nor take anything."""
_HEAD_LIMIT_BYTES = 1 << 18
_PIECE_BYTES = 1 << 16
_MOST_INTERIM = 8
_WITHOUT_BODY = frozenset({204, 205, 304})
_PORTS = {"http": 80, "https": 443}
_NOT_SENT_ON = frozenset(
    {
        *("connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade", "host", "content-length", "expect"),
    }
)


class Origin(NamedTuple):
    """Where a URL leads: `http` or `https`, host in lower case, port."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, uri: str) -> Origin:
        """The origin of an absolute URL.

        Raises:
            ValueError: where it has none.
        """
        parts = urlsplit(uri)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"not a URL of http or https: {uri[:300]!r}")
        return cls(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme])


class Piece(NamedTuple):
    """A part of a body: as it came, and without chunked coding."""

    raw: bytes
    payload: tuple[bytes | memoryview, ...]


@dataclass(slots=True, kw_only=True)
class Upstream:
    """An answer under way; `pieces` may be gone through once.

    `size` is the length of the payload where the server said it, `is_complete` whether all of
    the body came, known once `pieces` are through.
    """

    connection: socket.socket
    address: str
    head: HttpHead
    chunked: bool
    size: int | None
    begun: bytes
    is_complete: bool = False

    @property
    def ends_with_connection(self) -> bool:
        """Whether nothing but the end of the connection says where the body ends."""
        return not self.chunked and self.size is None

    def pieces(self) -> Iterator[Piece]:
        """The body, as it comes; memory of a piece.

        Raises:
            StoreUnavailable: the server broke off, or sent what is no body.
        """
        dechunker = Dechunker()
        left = self.size
        raw = self.begun
        while True:
            if self.chunked:
                payload = tuple(dechunker.feed(raw))
                if dechunker.failed:
                    raise StoreUnavailable("the server sent what are no chunks")
                over = dechunker.finished
            else:
                raw = raw if left is None else raw[:left]
                left = None if left is None else left - len(raw)
                payload = (raw,) if raw else ()
                over = left == 0
            if raw:
                yield Piece(raw, payload)
            if over:
                self.is_complete = True
                return
            raw = receive(self.connection)
            if not raw:
                if self.chunked or left is not None:
                    raise StoreUnavailable("the server broke off in the middle of the body")
                self.is_complete = True  # it ends with the connection
                return


def request_bytes(request: ProxyRequest, fields: Message) -> bytes:
    """The request as it goes to the server: the browser's own fields, in their order.

    What is of the connection to the proxy is left out (RFC 9110 §7.6.1).
    """
    parts = urlsplit(request.uri)
    target = request.uri.partition("://")[2][len(parts.netloc) :] or "/"
    named = (fields.get("Connection") or "").lower().split(",")
    left_out = {*_NOT_SENT_ON, *(token.strip() for token in named)}
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}"]
    for name, value in fields.items():
        if name.lower() not in left_out:
            lines.append(f"{name}: {' '.join(str(value).split())}")
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body)}")
    lines.append("Connection: close")
    head = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
    return head + request.body


def connect(
    origin: Origin,
    addresses: Iterable[tuple[str, int]],
    tls: ssl.SSLContext,
    patience_s: float = PATIENCE_S,
) -> socket.socket:
    """A connection to the first of these addresses that takes one, as the origin's host.

    Raises:
        StoreUnavailable: none does, or its certificate is not the host's.
    """
    why = "no address"
    for address in addresses:
        try:
            plain = socket.create_connection(address, timeout=patience_s)
        except OSError as error:
            why = error.strerror or str(error) or type(error).__name__
            continue
        try:
            if origin.scheme == "http":
                return plain
            return tls.wrap_socket(plain, server_hostname=origin.host)
        except (OSError, ValueError) as error:  # a TLS error is an OSError
            plain.close()
            why = getattr(error, "verify_message", "") or str(error)
    raise StoreUnavailable(f"no connection to {origin.host}:{origin.port}: {why}"[:500])


@contextlib.contextmanager
def send_request(
    connection: socket.socket, raw_request: bytes, *, method: str
) -> Iterator[Upstream]:
    """Send a request; the answer's head has come when this gives it.  Closes the connection.

    Raises:
        StoreUnavailable: no answer, or none of HTTP.
    """
    with connection:
        try:
            connection.sendall(raw_request)
        except OSError as error:
            raise StoreUnavailable(f"the server took no request: {error}") from error
        head, begun = _head(connection)
        chunked, size = _framing(head, method)
        yield Upstream(
            connection=connection,
            address=str(_peer(connection)),
            head=head,
            chunked=chunked,
            size=size,
            begun=begun,
        )


def _peer(connection: socket.socket) -> str:
    try:
        return str(connection.getpeername()[0])
    except OSError:
        return ""


def _head(connection: socket.socket) -> tuple[HttpHead, bytes]:
    """The head of the answer itself, and what of the body came with it."""
    received = b""
    for _ in range(_MOST_INTERIM):
        while (end := head_end(received)) < 0:
            more = receive(connection)
            if not more or len(received) > _HEAD_LIMIT_BYTES:
                raise StoreUnavailable("the server's answer has no end of its header")
            received += more
        head, received = HttpHead(received[:end]), received[end:]
        if head.status is None:
            raise StoreUnavailable("the server's answer is not HTTP")
        if head.status >= 200:
            return head, received
    raise StoreUnavailable("the server answers that it will answer, and does not")


def _framing(head: HttpHead, method: str) -> tuple[bool, int | None]:
    """Whether the body comes in chunks, and how long it is where that was said."""
    if method == "HEAD" or head.status in _WITHOUT_BODY:
        return False, 0
    if head.says_chunked:
        return True, None
    return False, head.content_length


def receive(connection: socket.socket) -> bytes:
    """What comes next; nothing where the connection ended.

    Raises:
        StoreUnavailable: nothing came for too long, or it broke.
    """
    try:
        return connection.recv(_PIECE_BYTES)
    except TimeoutError as error:
        raise StoreUnavailable("the server sent nothing for too long") from error
    except OSError as error:
        raise StoreUnavailable(f"the connection broke: {error.strerror or error}") from error

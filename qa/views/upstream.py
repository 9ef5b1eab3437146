"""Sends a request to a real server, and reads its answer as sent.

One connection per request, HTTP/1.1, over a plain socket: recordings have the bytes that the
server sent, including chunk sizes, which an HTTP library would decode.

    request ──▶ head (1xx skipped) ──▶ pieces: as sent, and dechunked

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
from pinakes.warc.http.message import Dechunker, HttpHead, head_end

TIMEOUT_S = 30.0
"""How long a server may neither send nor receive."""
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
    """`http` or `https`, host in lower case, port."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, uri: str) -> Origin:
        """The origin of an absolute URL.

        Raises:
            ValueError: not an http or https URL.
        """
        parts = urlsplit(uri)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"not an http or https URL: {uri[:300]!r}")
        return cls(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme])


class BodyPiece(NamedTuple):
    """A part of a body: as sent, and dechunked."""

    raw: bytes
    payload: tuple[bytes | memoryview, ...]


@dataclass(slots=True, kw_only=True)
class Upstream:
    """An answer that is being received; iterate `pieces` once.

    `size` is the payload's length if the server gave it; `is_complete`, valid after `pieces`, is
    whether the whole body was received.
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
        """Whether only the end of the connection marks the end of the body."""
        return not self.chunked and self.size is None

    def pieces(self) -> Iterator[BodyPiece]:
        """The body, as it is received; memory of one piece.

        Raises:
            StoreUnavailable: the server disconnected, or sent invalid chunks.
        """
        dechunker = Dechunker()
        left = self.size
        raw = self.begun
        while True:
            if self.chunked:
                payload = tuple(dechunker.feed(raw))
                if dechunker.failed:
                    raise StoreUnavailable("the server sent invalid chunks")
                over = dechunker.finished
            else:
                raw = raw if left is None else raw[:left]
                left = None if left is None else left - len(raw)
                payload = (raw,) if raw else ()
                over = left == 0
            if raw:
                yield BodyPiece(raw, payload)
            if over:
                self.is_complete = True
                return
            raw = receive(self.connection)
            if not raw:
                if self.chunked or left is not None:
                    raise StoreUnavailable("the server disconnected before the end of the body")
                self.is_complete = True  # the body ends with the connection
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerExchange:
    """One request to a server, as bytes too, and its answer."""

    request: ProxyRequest
    raw_request: bytes
    upstream: Upstream


def request_bytes(request: ProxyRequest, fields: Message) -> bytes:
    """The request as sent to the server: the browser's fields, in their order.

    Fields of the connection to the proxy are left out (RFC 9110 §7.6.1).
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
    timeout_s: float = TIMEOUT_S,
) -> socket.socket:
    """A connection to the first of these addresses that accepts one, as the origin's host.

    Raises:
        StoreUnavailable: none accepts one, or its certificate is invalid.
    """
    why = "no address"
    for address in addresses:
        try:
            plain = socket.create_connection(address, timeout=timeout_s)
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
    """Send a request and read the answer's head.  Closes the connection at the end.

    Raises:
        StoreUnavailable: no answer, or not HTTP.
    """
    with connection:
        try:
            connection.sendall(raw_request)
        except OSError as error:
            raise StoreUnavailable(f"the request could not be sent: {error}") from error
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
    """The head of the final answer, and the bytes of the body received with it."""
    received = b""
    for _ in range(_MOST_INTERIM):
        while (end := head_end(received)) < 0:
            more = receive(connection)
            if not more or len(received) > _HEAD_LIMIT_BYTES:
                raise StoreUnavailable("the server's header has no end")
            received += more
        head, received = HttpHead(received[:end]), received[end:]
        if head.status is None:
            raise StoreUnavailable("the server's answer is not HTTP")
        if head.status >= 200:
            return head, received
    raise StoreUnavailable("the server sent interim (1xx) answers only")


def _framing(head: HttpHead, method: str) -> tuple[bool, int | None]:
    """Whether the body is chunked, and its length if the header gives it."""
    if method == "HEAD" or head.status in _WITHOUT_BODY:
        return False, 0
    if head.says_chunked:
        return True, None
    return False, head.content_length


def receive(connection: socket.socket) -> bytes:
    """The next bytes; empty at the end of the connection.

    Raises:
        StoreUnavailable: a timeout, or the connection broke.
    """
    try:
        return connection.recv(_PIECE_BYTES)
    except TimeoutError as error:
        raise StoreUnavailable("timeout: the server sent nothing") from error
    except OSError as error:
        raise StoreUnavailable(f"the connection broke: {error.strerror or error}") from error

"""A proxy that has a few pages, http and https, and reaches nothing: browsers are pointed at it."""

from __future__ import annotations

import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pinakes.qa.browsers.tab import Proxy


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a URL answers.  `drip` goes on for ever after the body."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    drip: bool = False


def page(text: str) -> Answer:
    return Answer(body=text.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


class Pages(ThreadingHTTPServer):
    """`asked` has every URL in the order in which they came."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answers: Mapping[str, Answer | Callable[[str], Answer]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.asked: list[str] = []
        self.stopping = threading.Event()
        self.tls = _server_context()

    @property
    def proxy(self) -> Proxy:
        return Proxy(host="127.0.0.1", port=self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Pages
    origin: str | None = None

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.origin = "https://" + self.path.removesuffix(":443")
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)

    def do_GET(self) -> None:
        url = (self.origin or "") + self.path
        self.server.asked.append(url)
        found = self.server.answers.get(url) or self.server.answers.get("*")
        answer = found(url) if callable(found) else found
        if answer is None:
            answer = Answer(status=404, body=b"not in the archive")
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if not answer.drip and answer.status not in {204, 304}:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        while answer.drip and not self.server.stopping.is_set():
            self.wfile.write(b"<!-- more -->")
            self.wfile.flush()
            time.sleep(0.1)
        if answer.drip:
            self.close_connection = True

    do_POST = do_GET  # noqa: N815  http.server's names

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(answers: Mapping[str, Answer | Callable[[str], Answer]]) -> Iterator[Pages]:
    """These pages, behind a proxy of this process."""
    server = Pages(answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()


def _server_context() -> ssl.SSLContext:
    """One certificate, self-signed, for whatever host: browsers are told not to mind."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "proxy of a test")])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "both.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(file)
    return context

"""A plain client of the replay proxy, and a store behind it."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from landed_stores import LandedStore

from pinakes.qa.replay.generations import Generation
from pinakes.qa.replay.page_log import LoggedExchange
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.replay.session import ProxySession

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


class Response(NamedTuple):
    """An answer as a browser gets it."""

    status: int
    fields: Mapping[str, str]
    body: bytes

    @property
    def outcome(self) -> str | None:
        return self.fields.get("pinakes-replay")


class Client:
    """Asks for original URLs over a proxy, as a browser does; one connection a request."""

    def __init__(self, port: int, ca_file: Path, timeout_s: float = 60) -> None:
        self.port = port
        self._timeout_s = timeout_s
        self._tls = ssl.create_default_context(cafile=str(ca_file))

    def connect(self, url: str) -> http.client.HTTPConnection:
        parts = urlsplit(url)
        if parts.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=self._timeout_s)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=self._timeout_s, context=self._tls
        )
        connection.set_tunnel(parts.hostname or "", parts.port or 443)
        return connection

    def ask(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> Response:
        connection = self.connect(url)
        try:
            return ask_on(connection, url, method, body, fields)
        finally:
            connection.close()


def ask_on(
    connection: http.client.HTTPConnection,
    url: str,
    method: str = "GET",
    body: bytes | None = None,
    fields: Mapping[str, str] | None = None,
) -> Response:
    """Ask on a connection that is open, or opens now."""
    target = url
    if url.startswith("https:"):
        target = url.split("/", 3)[3] if url.count("/") > 2 else ""
        target = "/" + target
    connection.request(method, target, body, dict(fields or {}))
    answer = connection.getresponse()
    return Response(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())


class Browsing:
    """A store, the proxy over it, and a session whose page is open."""

    def __init__(self, store: LandedStore, proxy: ReplayProxy) -> None:
        self.store = store
        self.proxy = proxy
        self.session = self.open()
        self.client = self.client_of(self.session)

    def open(self, generation: Generation = "current", moment: datetime = MOMENT) -> ProxySession:
        session = self.proxy.open_session(generation)
        session.begin_page("page", moment)
        return session

    def client_of(self, session: ProxySession) -> Client:
        return Client(session.port, self.proxy.ca_file)

    def ask(
        self, url: str, method: str = "GET", body: bytes | None = None, **fields: str
    ) -> Response:
        """Ask; `Range="bytes=0-"` is a header."""
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        return self.client.ask(url, method, body, named)

    def log(self) -> list[LoggedExchange]:
        """What the page's log has; the next page begins."""
        exchanges = list(self.session.end_page(timeout_s=60).exchanges)
        self.session.begin_page("next", MOMENT)
        return exchanges

    def last(self) -> LoggedExchange:
        return self.log()[-1]


@contextmanager
def browsing(folder: Path) -> Iterator[Browsing]:
    """An empty store in a folder, and a proxy over it."""
    store = LandedStore(folder / "store")
    try:
        with ReplayProxy(store.rows, store.archive) as proxy:
            yield Browsing(store, proxy)
    finally:
        store.close()

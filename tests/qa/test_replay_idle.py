"""Connections that are kept, and on which nobody asks for anything."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from browsing import Browsing, Client, ask_on, browsing
from landed_stores import page

from pinakes.qa.replay import server

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SECURE, PLAIN = "https://example.org/secure", "http://example.org/plain"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        made.store.land("c", "a.warc.gz", page(SECURE, b"secure"), page(PLAIN, b"plain"))
        yield made


def test_idle_connections_give_way(at: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place is taken by one that was answered and is kept; half of them speak TLS."""
    monkeypatch.setattr(server, "IDLE_S", 0.2)
    with ThreadPoolExecutor(32) as threads:
        urls = [PLAIN, SECURE] * (server.MOST_CONNECTIONS // 2)
        kept = list(threads.map(lambda url: ask_and_keep(at, url), urls))
    client = Client(at.session.port, at.proxy.ca_file, timeout_s=30)
    assert client.ask(SECURE).body == b"secure"
    for connection in kept:
        connection.close()
    assert {exchange.outcome for exchange in at.log()} == {"hit"}


def test_who_is_slow_to_ask_first_is_not_idle(
    at: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Browsers open connections ahead, and do not ask again on one that ends unused."""
    monkeypatch.setattr(server, "IDLE_S", 0.05)
    for url, body in ((PLAIN, b"plain"), (SECURE, b"secure")):
        connection = at.client.connect(url)
        connection.connect()
        time.sleep(0.5)
        assert ask_on(connection, url).body == body
        connection.close()


def ask_and_keep(at: Browsing, url: str) -> http.client.HTTPConnection:
    connection = at.client.connect(url)
    assert ask_on(connection, url).outcome == "hit"
    return connection

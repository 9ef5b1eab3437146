"""What is not answered as if it were a page's: refused, given leave, or no miss."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Browsing, browsing
from landed_stores import page

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SECURE, PLAIN = "https://example.org/secure", "http://example.org/plain"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        made.store.land("c", "a.warc.gz", page(SECURE, b"secure"), page(PLAIN, b"plain"))
        yield made


def test_service_workers_are_refused(at: Browsing) -> None:
    answer = at.ask(SECURE, Service_Worker="script")
    assert (answer.status, answer.outcome) == (403, "refused")
    assert at.last().outcome == "refused"


def test_what_browsers_ask_for_themselves_is_no_miss(at: Browsing) -> None:
    url = "http://detectportal.firefox.com/success.txt"
    assert at.ask(url).outcome == "refused"
    at.store.land("own", "a.warc.gz", page(url, b"success"))
    assert at.ask(url).body == b"success"
    assert at.ask("http://detectportal.firefox.com.example.org/").outcome == "miss"


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"Sec_Purpose": "prefetch"}, "refused"),
        ({"Sec_Purpose": "Prefetch;prerender"}, "refused"),
        ({"Sec_Purpose": "other"}, "miss"),
        ({"Purpose": "prefetch"}, "miss"),
    ],
)
def test_what_is_asked_for_ahead_is_no_miss(
    at: Browsing, fields: dict[str, str], outcome: str
) -> None:
    assert at.ask(f"{PLAIN}/next", **fields).outcome == outcome
    assert at.ask(PLAIN, **fields).body == b"plain"
    assert [exchange.outcome for exchange in at.log()] == [outcome, "hit"]


def test_web_sockets_are_a_miss(at: Browsing) -> None:
    assert at.ask(PLAIN, Upgrade="websocket", Connection="Upgrade").outcome == "miss"


def test_leave_to_ask_across_origins(at: Browsing) -> None:
    fields = {"Origin": "https://example.net", "Access_Control_Request_Method": "PUT"}
    answer = at.ask(SECURE, "OPTIONS", **fields)
    assert (answer.status, answer.outcome) == (204, "preflight")
    assert answer.fields["access-control-allow-origin"] == "https://example.net"
    assert at.ask(SECURE, "OPTIONS").outcome == "miss"

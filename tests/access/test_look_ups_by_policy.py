"""Crawlers are told of no original that the policy of their crawl keeps them from referring to."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

import pytest
from asked_cdx import Ask, asking_here
from crawl_states import set_crawl_state
from landed_stores import LandedStore, page, sha1_of

from pinakes.catalog.crawl_rows import COMMITTED

URL = "http://example.org/page"
BODY = b"<html>the body that everybody has</html>"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
NOW = datetime.now(timezone.utc)
OLD, NEW = "2020-01-01T00:00:00Z", f"{NOW - timedelta(seconds=5):%Y-%m-%dT%H:%M:%SZ}"
WARCPROX = {"fl": "timestamp,digest", "filter": "!mimetype:warc/revisit", "limit": "-1"}
Table = dict[str, object]


@pytest.fixture
def store(store: LandedStore) -> LandedStore:
    """The page of a committed crawl, old and new."""
    for name, date in (("a", OLD), ("b", NEW)):
        url = URL if name == "a" else f"{URL}/new"
        store.land("spring", f"{name}.warc.gz", page(url, BODY, date=date, head=HTML))
    set_crawl_state(store.rows, "spring", COMMITTED, act="a")
    return store


def ask_by(store: LandedStore, *tables: Table) -> Ask:
    return next(asking_here(store, policies=tables))


def answer(ask: Ask, crawl: str | None = "summer") -> tuple[str | None, str | None]:
    """Which original, `old` or `new`, and why there is none."""
    query = f"?crawl={crawl}" if crawl else ""
    got = ask(f"/default/digests{query}", json.dumps([sha1_of(BODY)]))
    [found] = map(json.loads, got.lines)
    date = (found["original"] or {}).get("date")
    return {OLD: "old", NEW: "new", None: None}[date], found.get("why")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, ("old", None)),
        ({"off": True}, (None, "policy-off")),
        ({"crawl": "summer", "off": True}, (None, "policy-off")),
        ({"crawl": "spring", "off": True}, ("old", None)),
        ({"collection": "other", "off": True}, ("old", None)),
        ({"min_bytes": len(BODY)}, ("old", None)),
        ({"min_bytes": len(BODY) + 1}, (None, "policy-size")),
        ({"media_types": ["text/*"]}, ("old", None)),
        ({"media_types": ["image/png"]}, (None, "policy-media-type")),
        ({"statuses": [200]}, ("old", None)),
        ({"statuses": [404]}, (None, "policy-status")),
        ({"same_url": True}, (None, "policy-same-url: ask by URL")),
        # The younger one is of today's period; the older is passed over.
        ({"not_older_than": "1000 days"}, ("new", None)),
        ({"not_older_than": "99999 days"}, ("old", None)),
    ],
    ids=str,
)
def test_answers_keep_to_the_policy(
    store: LandedStore, table: Table, expected: tuple[str | None, str | None]
) -> None:
    assert answer(ask_by(store, table)) == expected


def test_nothing_young_enough_is_said(store: LandedStore) -> None:
    ask = ask_by(store, {"not_older_than": "1000 days"})
    query = urlencode({"url": URL, **WARCPROX})
    assert ask(f"/default/dedup/hex?{query}").body == ""
    assert ask_by(store)(f"/default/dedup/hex?{query}").body.startswith("20200101000000 ")


def test_who_asks_by_url_is_answered_under_same_url(store: LandedStore) -> None:
    ask = ask_by(store, {"same_url": True})
    query = urlencode({"url": URL, **WARCPROX})
    assert ask(f"/default/dedup/hex?{query}").body.startswith("20200101000000 ")
    assert ask("/default/dedup/wget").body.count(URL) == 2


def test_a_collection_that_is_off_gives_wget_nothing(store: LandedStore) -> None:
    ask = ask_by(store, {"off": True})
    assert URL not in ask("/default/dedup/wget").body
    # Other look-ups are none of its business.
    assert URL in ask(f"/default/cdx?url={URL}").body

"""Which queries mean the same, and which do not."""

from __future__ import annotations

import pytest

from pinakes.index.urlkey import urlkey
from pinakes.qa.replay.fuzzy import RULES, fuzzy_rule, normal_key

SITE = "http://example.org"


@pytest.mark.parametrize(
    ("asked", "captured", "rule"),
    [
        ("/a?_=1583000000123&id=7", "/a?_=1600000000456&id=7", "cache-buster"),
        ("/a?id=7", "/a?_=1600000000456&id=7", "cache-buster"),
        ("/a", "/a?_=1600000000456", "cache-buster"),
        ("/a?r=0.81723645", "/a?r=0.5534", "cache-buster"),
        ("/a?t=1583000000", "/a?t=1600000000123", "timestamp"),
        ("/a?cachebust=1583000000", "/a", "timestamp"),
        ("/a?cb=jQuery17_15&q=x", "/a?cb=jQuery3310_16&q=x", "jquery-callback"),
        ("/a?callback=__jsonp0", "/a?callback=__jsonp7", "jsonp-callback"),
        ("/a?utm_source=x&utm_medium=y&id=1", "/a?id=1", "campaign"),
        ("/a?PHPSESSIONID=abcdef1234567890&id=1", "/a?id=1", "session"),
        ("/a?r=1583000000123", "/a?r=1600000000", "cache-buster"),
        ("/a?cache_buster=1583000000", "/a?_ts=1600000000", "timestamp"),
        ("/a?utm_source=x&_=12345", "/a", "cache-buster+campaign"),
        ("/s.css?v=1", "/s.css?v=2", "static-file"),
        ("/s.css", "/s.css?ver=5.2", "static-file"),
        ("/a?id=7", "/a?id=8", None),
        ("/a?_=x", "/a?_=y", None),
        ("/a?r=1", "/a?r=2", None),
        ("/a?page=2&_=12345", "/a?page=3&_=12345", None),
        ("/a?t=2", "/a?t=3", None),
        ("/map?r=2020", "/map?r=2019", None),
        ("/article?sid=2020011", "/article?sid=2020010", None),
        ("/view?session_id=room-12", "/view?session_id=room-99", None),
        ("/shop?products=1500000001", "/shop?products=1500000002", None),
        ("/shop?robust=1500000001", "/shop?robust=1500000002", None),
        ("/items.json?page=2", "/items.json?page=1", None),
        ("/doc.pdf?id=1", "/doc.pdf?id=2", None),
        ("/items.json?page=1&_=12345", "/items.json?page=1", "cache-buster"),
        ("/s.php?v=1", "/s.php?v=2", None),
        ("/s.css?v=1", "/other.css?v=1", None),
        ("/s.css?__wb_method=POST&a=1", "/s.css?a=1", None),
        ("/s.css?a=1", "/s.css?__wb_method=POST&a=1", None),
    ],
)
def test_two_urls(asked: str, captured: str, rule: str | None) -> None:
    assert fuzzy_rule(urlkey(SITE + asked), urlkey(SITE + captured)) == rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_needed(rule: object) -> None:
    """Each is used by some example, and none takes a plain query for its own."""
    examples = (
        "_=12345 ts=1583000000 x=jquery1_2 callback=jsonp9 utm_a=b phpsessid=abcdef1234567890"
    )
    used = {normal_key(f"org,example)/?{example}")[1] for example in examples.split()}
    assert (rule.name,) in used  # type: ignore[attr-defined]
    assert normal_key("org,example)/?a=1&page=2&q=shoes") == (
        "org,example)/?a=1&page=2&q=shoes",
        (),
    )


@pytest.mark.parametrize("key", ["", "?", "org,example)/?", "org,example)/?&&&", "a?=&=?&_"])
def test_odd_keys_stay_as_they_are(key: str) -> None:
    assert normal_key(key) == (key, ())


def test_a_long_hostile_query_is_looked_through_once() -> None:
    key = "org,example)/?" + "&".join(["ts" * 2000 + "=1" * 2000] * 20)
    assert normal_key(key) == (key, ())

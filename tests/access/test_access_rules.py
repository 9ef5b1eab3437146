"""Which captures the rules let out."""

from __future__ import annotations

import pytest

from pinakes.access.rules import AccessRules, parse_rules
from pinakes.errors import ConfigError
from pinakes.index.urlkey import urlkey

NOW = "20260101000000"


def admitted(rules: AccessRules, url: str, time: str) -> bool:
    return rules.admits(urlkey=urlkey(url), time=time, collection="news", crawl="c", now=NOW)


@pytest.mark.parametrize(
    ("tables", "url", "time", "wanted"),
    [
        ([], "http://example.org/a", "2020", True),
        ([{"block": "*"}], "http://example.org/a", "2020", False),
        ([{"block": "*"}, {"allow": "*.example.org"}], "http://www.example.org/a", "2020", True),
        ([{"block": "*"}, {"allow": "*.example.org"}], "http://b.example.org:80/", "2020", True),
        ([{"block": "*"}, {"allow": "*.example.org"}], "http://example.orga/", "2020", False),
        ([{"block": "http://example.org/p/"}], "https://example.org/p/1", "2020", False),
        ([{"block": "http://example.org/p/"}], "http://example.org/p/", "2020", False),
        ([{"block": "http://example.org/p/"}], "http://example.org/p/?v=1", "2020", False),
        ([{"block": "http://example.org/p/"}], "http://example.org/pp/", "2020", True),
        ([{"block": "http://example.org/z*"}], "http://example.org/zebra", "2020", False),
        ([{"block": "example.org/z"}], "http://example.org/zebra", "2020", False),
        ([{"block": "urn:view:"}], "urn:view:http://example.org/", "2020", False),
        ([{"block": "http://[::1]:8080/a"}], "http://[::1]:8080/ab", "2020", False),
        ([{"block": "http://example.org/p"}], "http://example.org/pp?x", "2020", False),
        ([{"block": ["http://a.org/", "http://b.org/"]}], "http://b.org/1", "2020", False),
        ([{"block": "*", "collection": "other"}], "http://example.org/", "2020", True),
        ([{"block": "*", "collection": "news"}], "http://example.org/", "2020", False),
        ([{"block": "*", "crawl": "c"}], "http://example.org/", "2020", False),
        ([{"block": "*", "from": "2019", "to": "2020-06"}], "http://a/", "20200630", False),
        ([{"block": "*", "from": "2019", "to": "2020-06"}], "http://a/", "20200701", True),
        ([{"block": "*", "younger_than": "90 days"}], "http://a/", "20251001000000", True),
        ([{"block": "*", "younger_than": "90 days"}], "http://a/", "20251201000000", False),
        ([{"block": "*", "older_than": "10 years"}], "http://a/", "20151201000000", False),
        ([{"block": "*"}, {"allow": "*", "older_than": "30 days"}], "http://a/", "2020", True),
    ],
)  # fmt: skip
def test_the_last_rule_that_fits_decides(
    tables: list[dict[str, object]], url: str, time: str, wanted: bool
) -> None:
    assert admitted(parse_rules(tables), url, time) is wanted


def test_without_a_block_nothing_has_to_be_asked() -> None:
    assert parse_rules([]).is_open
    assert parse_rules([{"allow": "*.example.org"}]).is_open
    assert not parse_rules([{"block": "http://example.org/"}]).is_open


@pytest.mark.parametrize(
    ("tables", "hidden"),
    [
        ([], False),
        ([{"block": "*", "crawl": "c"}], True),
        ([{"block": ["*"], "collection": "news"}], True),
        ([{"block": "*", "crawl": "d"}], False),
        ([{"block": "*", "collection": "other", "crawl": "c"}], False),
        ([{"block": "http://a.org/", "crawl": "c"}], False),
        ([{"block": "*", "younger_than": "90 days"}], False),
        ([{"block": "*"}, {"allow": "http://a.org/"}], False),
        ([{"allow": "*"}, {"block": "*"}, {"block": "http://a.org/"}], True),
        ([{"block": "*"}, {"allow": "*", "crawl": "d"}], True),
    ],
)
def test_a_hidden_crawl(tables: list[dict[str, object]], hidden: bool) -> None:
    assert parse_rules(tables).hides(collection="news", crawl="c") is hidden


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "one of block and allow"),
        ({"block": "*", "allow": "*"}, "one of block and allow"),
        ({"block": ""}, "not a URL"),
        ({"block": "org,example)/z"}, "not a URL"),
        ({"block": "*example.net"}, "not a URL"),
        ({"block": "*."}, "not a URL"),
        ({"block": "*.example.net/z"}, "not a URL"),
        ({"block": "http://example.org/*/z"}, "not a URL"),
        ({"block": "private"}, "not a URL"),
        ({"block": []}, "names nothing"),
        ({"block": "*", "from": "2021", "to": "2020"}, "after to"),
        ({"block": 5}, "must be text"),
        ({"block": "*", "urls": "x"}, "unknown key urls"),
        ({"block": "*", "from": "soon"}, "a date"),
        ({"block": "*", "younger_than": "soon"}, "an age"),
        ({"block": [1]}, "not a URL"),
    ],
)
def test_wrong_rules_are_refused_by_number(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=f"access rule 2: .*{message}"):
        parse_rules([{"block": "http://example.org/"}, table])

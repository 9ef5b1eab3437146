"""What was typed, and what it asks for."""

from __future__ import annotations

import pytest

from pinakes.access.pages.search_page import (
    CaptureQuery,
    DigestQuery,
    NoQuery,
    PrefixQuery,
    UrlQuery,
    parse_query,
)
from pinakes.index.urlkey import urlkey

SHA1 = "sha1:QKMZRI4EBGB6ZNGHQ2RY4DDMGHTTMI2D"
KEY = "org,example)/ 20200102030405000 ABCDEFGH"


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("", NoQuery),
        ("   ", NoQuery),
        ("how to cook", NoQuery),
        ("cook", NoQuery),
        ("cook.book now", NoQuery),
        ("sha1:ABC", NoQuery),
        ("*.", NoQuery),
        ("\u202e\x00", NoQuery),
        (SHA1, DigestQuery),
        (SHA1.lower(), DigestQuery),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709", DigestQuery),
        (KEY, CaptureQuery),
        ("http://example.org/", UrlQuery),
        (" http://example.org/a b ", UrlQuery),
        ("example.org/page", UrlQuery),
        ("example.org:8080/page", UrlQuery),
        ("urn:pageinfo:http://example.org/", UrlQuery),
        ("javascript:alert(1)", UrlQuery),
        ("http://[::1", UrlQuery),
        ("*", PrefixQuery),
        ("example.org", PrefixQuery),
        ("localhost", PrefixQuery),
        ("127.0.0.1", PrefixQuery),
        ("*.example.org", PrefixQuery),
        ("http://example.org/docs/*", PrefixQuery),
        ("example.org/docs/*", PrefixQuery),
        ("org,example)/docs", PrefixQuery),
    ],
)
def test_kind_of_what_was_typed(typed: str, kind: type) -> None:
    assert type(parse_query(typed)) is kind


@pytest.mark.parametrize(
    ("typed", "within", "without"),
    [
        (
            "example.org",
            ["http://example.org/", "https://www.example.org/a?b", "http://a.b.example.org/"],
            ["http://example.com/", "http://example.orgs/", "http://example-org.org/"],
        ),
        (
            "http://example.org/docs/*",
            ["https://example.org/docs/a", "http://www.Example.org/docs/a/b"],
            ["http://example.org/docs2", "http://example.org/", "http://a.example.org/docs/a"],
        ),
        ("example.org/do*", ["http://example.org/docs", "http://example.org/do"], ["http://e.org"]),
        ("org,example)/docs", ["http://example.org/docs2"], ["http://example.org/d"]),
        ("127.0.0.1", ["http://127.0.0.1/a"], ["http://127.0.0.2/a"]),
        ("*", ["http://example.org/", "urn:x", "http://zz.zz/"], []),
    ],
    ids=["host", "folder", "beginning", "key", "address", "all"],
)
def test_range_of_prefix(typed: str, within: list[str], without: list[str]) -> None:
    query = parse_query(typed)
    assert isinstance(query, PrefixQuery)
    keys = {url: f"{urlkey(url)} 20200102030405000 ABCDEFGH".encode() for url in within + without}
    assert {url for url, key in keys.items() if key in query.key_range} == set(within)

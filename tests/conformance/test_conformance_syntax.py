"""The grammar of values, table by table."""

from __future__ import annotations

import pytest

from pinakes.conformance import syntax

GOOD_URIS = [
    "http://example.org/",
    "http://user:pw@example.org:8080/a/b;c=1,2?q=[1]".replace("[1]", "%5B1%5D"),
    "http://[2001:db8::1]:80/",
    "urn:uuid:00000000-0000-4000-8000-000000000000",
    "dns:example.org",
    "file:///a/b",
    "file://var/www/htdoc",
    "metadata://gnu.org/software/wget/warc/MANIFEST.txt",
    "mailto:a@example.org",
    "x:",
]
BAD_URIS = [
    ("", "empty"),
    ("example.org/page", "no scheme"),
    ("http://example.org/a b", "white space (character 21)"),
    ("http://example.org/\u00e9", "unescaped"),
    ("http://example.org/a|b", "'|' unescaped"),
    ("http://example.org/%zz", "'%' unescaped"),
    ("http://example.org/#a#b", "not a URI"),
    ("http://example.org/[a]", "not a URI"),
    ("1http://example.org/", "no scheme"),
]


@pytest.mark.parametrize("value", GOOD_URIS)
def test_uris_are_taken(value: str) -> None:
    assert syntax.uri(value) is None
    assert syntax.either_uri(f"<{value}>") is None
    assert syntax.either_uri(value) is None


@pytest.mark.parametrize(("value", "words"), BAD_URIS)
def test_what_is_no_uri_is_said(value: str, words: str) -> None:
    assert words in (syntax.uri(value) or "")
    assert syntax.bracketed_uri(f"<{value}>") is not None


def test_a_long_uri_takes_linear_time() -> None:
    assert syntax.uri("http://example.org/" + "a" * 200_000) is None
    assert syntax.uri("http://" + "a" * 200_000 + "\\") is not None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("http://example.org/", "not in < and >"),
        ("<http://example.org/", "not in < and >"),
        ("<urn:uuid:27ef1r9j-defr-25f9-328r-16859347dddd>", "not a UUID"),
        ("<urn:uuid:00000000000040008000000000000000>", "not a UUID"),
    ],
)
def test_ids_stand_in_brackets(value: str, words: str) -> None:
    assert words in (syntax.bracketed_uri(value) or "")


DATES = [
    # value, WARC/1.0, WARC/1.1
    ("2020-01-02T03:04:05Z", True, True),
    ("2020-12-31T23:59:60Z", True, True),
    ("2020-02-30T03:04:05Z", False, False),
    ("2020-01-02T25:04:05Z", False, False),
    ("2020-01-02T03:04:05.1Z", False, True),
    ("2020-01-02T03:04:05.123456789Z", False, True),
    ("2020-01-02T03:04:05.1234567890Z", False, False),
    ("2020-01-02T03:04:05.Z", False, False),
    ("2020-01-02T03:04Z", False, True),
    ("2020-01-02", False, True),
    ("2020-01", False, True),
    ("2020", False, True),
    ("2020-13", False, False),
    ("2020-01-02T03:04:05", False, False),
    ("2020-01-02T03:04:05+00:00", False, True),
    ("2020-01-02T03:04:05+02:00", False, False),
    ("2020-01-02 03:04:05Z", False, False),
    ("2020-01-02t03:04:05z", False, False),
    ("20200102030405", False, False),
    ("\u0662\u0660\u0662\u0660", False, False),
    ("", False, False),
]


@pytest.mark.parametrize(("value", "good_1_0", "good_1_1"), DATES)
def test_dates_by_version(value: str, good_1_0: bool, good_1_1: bool) -> None:
    assert (syntax.date_1_0(value) is None) is good_1_0
    assert (syntax.date_1_1(value) is None) is good_1_1


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("application/http", True),
        ("application/http;msgtype=response", True),
        ("application/http ; msgtype=response", True),
        ('text/html; charset="a b\\""', True),
        ("text/html;", False),
        ("text/html; charset", False),
        ("text", False),
        ("text/", False),
        ("text/html, text/plain", False),
    ],
)
def test_media_types(value: str, good: bool) -> None:
    assert (syntax.media_type(value) is None) is good


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", True),
        ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", True),
        ("SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", True),
        ("blake3:af1349b9", True),
        ("sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====", True),
        ("sha1:DBXHDRBXLF4OMUZ5DN4JJ2KFUAOB6VK8", False),  # the standard's own; 8 is no Base32
        ("sha1:AB2CD3EF4GH5IJ6KL7MN8OPQ", False),
        ("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", False),
        ("sha1:", False),
        (":abc", False),
        ("sha1 :abc", False),
    ],
)
def test_labelled_digests(value: str, good: bool) -> None:
    assert (syntax.labelled_digest(value) is None) is good


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("192.0.2.1", True),
        ("2001:db8::1", True),
        ("::ffff:192.0.2.1", True),
        ("fe80::1%eth0", False),
        ("[2001:db8::1]", False),
        ("192.0.2", False),
        ("192.0.2.1:80", False),
        ("example.org", False),
    ],
)
def test_ip_addresses(value: str, good: bool) -> None:
    assert (syntax.ip_address(value) is None) is good


def test_a_shown_value_is_short() -> None:
    assert len(syntax.shown("x" * 10_000)) < 100

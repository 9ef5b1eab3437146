"""What a browser asked for, out of a request line, whatever it holds."""

from __future__ import annotations

import pytest

from pinakes.qa.replay.request import (
    ProxyRequest,
    Tunnel,
    clean_request_line,
    original_uri,
    parse_authority,
)

SECURE = Tunnel(host="example.org", port=443)
ODD_PORT = Tunnel(host="example.org", port=8443)
PLAIN = Tunnel(host="example.org", port=80, scheme="http")


@pytest.mark.parametrize(
    ("target", "tunnel", "uri"),
    [
        ("http://example.org/a?b#c", None, "http://example.org/a?b"),
        ("http://example.org:80/a", None, "http://example.org/a"),
        ("http://example.org:8080/a", None, "http://example.org:8080/a"),
        ("http://example.org", None, "http://example.org/"),
        ("http://example.org?a=1", None, "http://example.org/?a=1"),
        ("HTTP://example.org/A", None, "http://example.org/A"),
        ("https://example.org:443/", None, "https://example.org/"),
        ("/a?b", SECURE, "https://example.org/a?b"),
        ("//a", SECURE, "https://example.org//a"),
        ("/", ODD_PORT, "https://example.org:8443/"),
        ("/socket", PLAIN, "http://example.org/socket"),
        ("https://example.net/", SECURE, "https://example.net/"),
        ("wss://example.org/s", None, "https://example.org/s"),
        ("/a", None, None),
        ("ftp://example.org/", None, None),
        ("http:///a", None, None),
        ("*", None, None),
        ("", SECURE, None),
    ],
)
def test_the_original_url(target: str, tunnel: Tunnel | None, uri: str | None) -> None:
    assert original_uri(target, tunnel) == uri


@pytest.mark.parametrize(
    ("line", "cleaned"),
    [
        (b"GET /a HTTP/1.1\r\n", b"GET /a HTTP/1.1\r\n"),
        (b"GET /\xc3\xa0 HTTP/1.1\r\n", b"GET /%C3%A0 HTTP/1.1\r\n"),
        (b"GET /a\xa0b HTTP/1.1\r\n", b"GET /a%A0b HTTP/1.1\r\n"),
        (b"GET /a b\tc HTTP/1.1\r\n", b"GET /a%20b%09c HTTP/1.1\r\n"),
        (b"GET /\x00\x7f HTTP/1.1\n", b"GET /%00%7F HTTP/1.1\r\n"),
        (b"GET /a\r\n", None),
        (b"\r\n", None),
    ],
)
def test_a_request_line_has_three_words(line: bytes, cleaned: bytes | None) -> None:
    assert clean_request_line(line) == cleaned


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("example.org:443", "example.org"),
        ("EXAMPLE.org:443", "example.org"),
        ("[::1]:443", "[::1]"),
        ("a_b.example.org:1", "a_b.example.org"),
        ("example.org", None),
        ("example.org:0", None),
        ("example.org:65536", None),
        ("exa mple.org:443", None),
        ("/../../etc:443", None),
        (f"{'a' * 254}:443", None),
    ],
)
def test_host_and_port_of_a_tunnel(target: str, host: str | None) -> None:
    tunnel = parse_authority(target)
    assert (tunnel and tunnel.host) == host


def test_what_is_looked_up_for_a_form() -> None:
    asked = ProxyRequest(method="POST", uri="http://example.org/f", query="__wb_method=POST&a=1")
    assert asked.lookup_uri == "http://example.org/f?__wb_method=POST&a=1"
    assert (
        ProxyRequest(method="GET", uri="http://example.org/f").lookup_uri == "http://example.org/f"
    )

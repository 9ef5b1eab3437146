"""URLs of access systems: where a page is found in one, and what is behind what it gives."""

from __future__ import annotations

import socket
from datetime import datetime, timezone

import comparing  # noqa: F401
import pytest

from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.qa.views.access_urls import AccessUrls
from pinakes.qa.views.live import NotPublic, is_public, public_addresses
from pinakes.qa.views.upstream import Origin

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
PYWB = "https://web.example/coll"


@pytest.mark.parametrize(
    ("prefix", "url", "address"),
    [
        (PYWB, "http://a.org/b?c=d&e", f"{PYWB}/20200102030405mp_/http://a.org/b?c=d&e"),
        (f"{PYWB}/", "http://a.org/", f"{PYWB}/20200102030405mp_/http://a.org/"),
        (
            "http://w.example:8080/wayback/{timestamp}if_/{url}",
            "https://a.org/",
            "http://w.example:8080/wayback/20200102030405if_/https://a.org/",
        ),
        (
            "http://w.example/get?when={timestamp}&what={url}",
            "http://a.org/b?c=d&e",
            "http://w.example/get?when=20200102030405&what=http%3A%2F%2Fa.org%2Fb%3Fc%3Dd%26e",
        ),
    ],
)
def test_where_a_page_is(prefix: str, url: str, address: str) -> None:
    assert AccessUrls(prefix).address(url, MOMENT) == address


@pytest.mark.parametrize(
    ("uri", "original"),
    [
        (f"{PYWB}/20200102030405mp_/http://a.org/b?c=d&e", "http://a.org/b?c=d&e"),
        (f"{PYWB}/20200102030405im_/https://a.org/b.png", "https://a.org/b.png"),
        (f"{PYWB}/20200102030405/http://a.org", "http://a.org/"),
        (f"{PYWB}/2020/http://a.org/", "http://a.org/"),
        (f"{PYWB}/mp_/http://a.org/", "http://a.org/"),
        (f"{PYWB}/20200102030405js_/http:/a.org/b", "http://a.org/b"),
        (f"{PYWB}/20200102030405mp_/a.org/b", "http://a.org/b"),
        (f"{PYWB}/20200102030405mp_/http://a.org:80/b#c", "http://a.org/b"),
        (f"{PYWB}/20200102030405mp_/mailto:nobody", None),
        (f"{PYWB}/cdx?url=http://a.org/", None),
        (f"{PYWB}/timemap/link/http://a.org/", None),
        ("https://web.example/static/wombat.js", None),
        ("https://elsewhere.example/coll/20200102030405mp_/http://a.org/", None),
        ("http://web.example/coll/20200102030405mp_/http://a.org/", None),
    ],
)
def test_what_is_behind_a_rewritten_url(uri: str, original: str | None) -> None:
    assert AccessUrls(PYWB).original(uri) == (original or uri)


@pytest.mark.parametrize(
    "prefix",
    ["http://reader:secret@w.example/c", "https://secret@w.example/{timestamp}if_/{url}",
     "http://:secret@w.example/no{url", "//reader:secret@w.example/c", "http://u:secret@[w/c"],
)  # fmt: skip
def test_a_password_is_refused_and_not_repeated(prefix: str) -> None:
    with pytest.raises(ConfigError, match="user or password") as raised:
        AccessUrls(prefix)
    assert "secret" not in str(raised.value)


def test_a_path_may_have_an_at_sign() -> None:
    urls = AccessUrls("http://w.example/@readers")
    assert urls.address("http://a@a.org/", MOMENT).endswith(
        "/@readers/20200102030405mp_/http://a@a.org/"
    )


def test_back_and_forth_is_the_same() -> None:
    urls = AccessUrls("http://w.example/wayback/{timestamp}if_/{url}")
    for url in ("http://a.org/", "https://a.org/b/?c=http://d.org/&e", "http://a.org/20200101/x"):
        assert urls.original(urls.address(url, MOMENT)) == url


@pytest.mark.parametrize(
    "prefix", ["", "web.example/coll", "ftp://web.example/", "http:///coll", "http://w/{when}/{url}",
               "http://w/{timestamp}/", "http://w/{timestamp/{url}"],
)  # fmt: skip
def test_what_is_no_access_system(prefix: str) -> None:
    with pytest.raises(ConfigError, match="access system"):
        AccessUrls(prefix)


@pytest.mark.parametrize(
    ("uri", "origin"),
    [
        ("http://A.org/x", ("http", "a.org", 80)),
        ("https://a.org", ("https", "a.org", 443)),
        ("http://a.org:8080/", ("http", "a.org", 8080)),
        ("http://[::1]:81/", ("http", "::1", 81)),
    ],
)
def test_an_origin(uri: str, origin: tuple[str, str, int]) -> None:
    assert Origin.of(uri) == origin


@pytest.mark.parametrize("uri", ["ftp://a.org/", "a.org", "http://", "http://a.org:99999/"])
def test_no_origin(uri: str) -> None:
    with pytest.raises(ValueError, match=r"URL|[Pp]ort"):
        Origin.of(uri)


# --- Addresses of the public web, and the many that are not


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "2002:0808:0808::1",
     "64:ff9b::808:808"],
)  # fmt: skip
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:0a00:0001::"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "2001:db8::1", "2001:0:0:0:0:0:0:1"),
        # Global for some versions of Python.
        *("192.0.0.1", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.88.99.1", "::ffff:192.0.0.9"),
        *("fec0::1", "feff::1", "64:ff9b:1::808:808", "64:ff9b::c000:9", "2002:c058:6301::1"),
        *("3fff::1", "3fff:fff::1"),
        *("", "localhost", "0x7f000001"),
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "127.1", "2130706433", "0"])
def test_a_host_within_is_refused(host: str) -> None:
    with pytest.raises(NotPublic, match="has no public address"):
        public_addresses(Origin("http", host, 80))


def found(*addresses: str) -> list[tuple[object, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 80)) for a in addresses]


def test_of_several_addresses_the_public_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: found("10.0.0.1", "8.8.8.8", "8.8.8.8", "::1")
    )
    assert public_addresses(Origin("https", "a.example", 443)) == [("8.8.8.8", 443)]


def test_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(StoreUnavailable, match=r"no address for a\.example: Name or service"):
        public_addresses(Origin("https", "a.example", 443))


def test_a_name_that_is_none() -> None:
    with pytest.raises(StoreUnavailable, match="no address for"):
        public_addresses(Origin("http", "a" * 70 + ".example", 80))

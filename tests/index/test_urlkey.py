"""A urlkey is what the surt package gives, by the short way and by all rules."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from surt import surt

from pinakes.index import urlkey as module
from pinakes.index.urlkey import surt_of, urlkey

hosts = st.lists(
    st.text("abzAZ019-", min_size=1, max_size=4) | st.sampled_from(["www", "www2", "com", "org"]),
    min_size=1, max_size=4,
).map(".".join)  # fmt: skip
# What the grammar of URIs, and its abuse, can bring.
pieces = st.text("aZ09-._~!$&'()*+,;=:@/?%#|\\ ", max_size=12) | st.sampled_from(
    ["/../", "/./", "//", "%41", "%2541", "%", "sid=" + "a" * 32, "&phpsessid=" + "0" * 32, "&",
     "(S(" + "a" * 24 + "))/x.aspx", "/.hidden", "/a.", "?", "=", "b&a=2&a&a=1", "/"]
)  # fmt: skip
uris = st.builds(
    lambda scheme, host, port, rest: f"{scheme}{host}{port}{''.join(rest)}",
    st.sampled_from(["http://", "https://", "HTTP://", "http://user@", "ftp://"]),
    hosts,
    st.sampled_from(["", "", "", ":80", ":443", ":8080", ":"]),
    st.lists(pieces, max_size=4),
)


def by_surt(uri: str) -> str | None:
    try:
        return surt(uri)
    except Exception:  # noqa: BLE001  (surt raises whatever it meets)
        return None


def without_name_servers(name: bytes) -> tuple[None, None, list[str]]:
    """`gethostbyname_ex` of what is an address, as the C library takes it apart."""
    if name.strip() != name:
        raise socket.gaierror
    try:
        return None, None, [socket.inet_ntoa(socket.inet_aton(name.decode()))]
    except OSError as error:
        raise socket.gaierror from error


@given(uris)
def test_equals_surt(uri: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "gethostbyname_ex", without_name_servers)
        expected = by_surt(uri)
    if expected is not None:
        assert urlkey(uri) == "".join(expected.split())


HOSTILE = [
    b"http://", b"https://", b"HTTP://", b"ftp://", b"dns:", b"mailto:", b"filedesc", b"www.",
    b"www3.", b"Example", b".org", b".", b"..", b"/", b"//", b"/../", b"/./", b"?", b"&", b"=",
    b"#", b"%", b"%25", b"%41", b"%2541", b"%252525", b"%2F", b"%3f", b"%0a", b" ", b"\t", b"\n",
    b"\x0b", b"\x00", b":", b":80", b":443", b":8080", b":0", b":99999", b":x", b"@", b"[::1]",
    b"]", b"[", b"\xc3\xa4", b"\xff", b"\xe2\x84\xaa", b"\xc2\xa0", b"xn--", b"b=2", b"a=1", b"a",
    b"sid=" + b"a" * 32, b"jsessionid=" + b"0" * 32, b"JSESSIONID=" + b"F" * 32,
    b"phpsessid=" + b"Z" * 32, b"ASPSESSIONIDabcdefgh=" + b"Q" * 24, b"cfid=1&cftoken=2",
    b"cfid=", b"cfid=7", b"&cftoken=", b"&cftoken=9", b"(S(" + b"a" * 24 + b"))/",
    b"(" + b"b" * 24 + b")/", b"x.aspx", b".aspx", b"index.html", b"1.2", b"127.0.0.1", b"0177.1",
    b"%31", b"12345678901", b"999", b";", b",", b"~", b"'", b"|", b"\\",
]  # fmt: skip
BEGINNINGS = [b"", b"", b"", b"example.org/", b"http://www.Example.com/p?", b"http://a.b.c",
              b"https://1.2.3.4/", b"http://user:pw@h.org:81/"]  # fmt: skip


def hostile(choose: random.Random) -> bytes:
    """A URI of odd pieces, one time in ten with some bytes changed."""
    uri = choose.choice(BEGINNINGS) + b"".join(choose.choices(HOSTILE, k=choose.randrange(1, 9)))
    if choose.random() < 0.1:
        uri = bytes(choose.randrange(256) if choose.random() < 0.1 else byte for byte in uri)
    return uri


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.large) for seed in range(1, 4))]
)
def test_equals_surt_on_hostile_uris(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostbyname_ex", without_name_servers)
    choose, refused = random.Random(seed), 0
    for _ in range(25_000):
        uri = hostile(choose)
        try:
            expected = surt(uri)
        except Exception:  # noqa: BLE001
            refused += 1
            with pytest.raises(ValueError, match=r"not a URI|not a port"):
                surt_of(uri)
        else:
            assert surt_of(uri) == expected, uri
    assert refused < 5_000


@pytest.mark.parametrize(
    "uri",
    [
        b"http://a.org/" + b"%25" * 300_000,
        b"http://a.org/%" + b"25" * 450_000,
        b"http://a.org/?" + b"cfid=" * 180_000,
        b"http://a.org/.aspx" + (b"/(" + b"a" * 24 + b")") * 30_000 + b"/",
        b"http://a.org/" + b"../" * 300_000,
        b"http://" * 120_000 + b"a.org/",
        b"http://" + b"a." * 400_000,
    ],
    ids=["escapes", "escaped-escapes", "cfid", "sessions", "dots", "schemes", "labels"],
)
def test_a_megabyte_of_uri_is_answered(uri: bytes) -> None:
    assert surt_of(uri).isascii()


@given(st.text())
def test_never_raises_and_holds_no_blank(uri: str) -> None:
    assert urlkey(uri).split() in ([urlkey(uri)], [])


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        ("http://www.Example.org/B?z=1&a=2", "org,example)/b?a=2&z=1"),
        ("https://example.org/b?a=2&z=1", "org,example)/b?a=2&z=1"),
        ("http://www23.example.org", "org,example)/"),
        ("http://example.org/a/", "org,example)/a"),
        ("http://example.org:80/a", "org,example)/a"),
        ("http://10.0.0.1/a", "1,0,0,10)/a"),
        ("http://example.org/\u212a", "org,example)/%e2%84%aa"),
        ("http://Example.org:99999999x/", "http://example.org:99999999x/"),
    ],
)
def test_examples(uri: str, key: str) -> None:
    assert urlkey(uri) == key


def test_numeric_hosts_are_addresses_without_a_lookup(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str) -> None:
        pytest.fail(f"a name server was asked for {name}")

    monkeypatch.setattr(socket, "gethostbyname_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for host in ("3232235777", "0300.0250.1.1", "192.168.257", "user@192.11010305:80"):
        assert urlkey(f"http://{host}/a") == "1,1,168,192)/a"
    assert urlkey("http://99999.1.1.1/x") == "1,1,1,99999)/x"


def test_equals_surt_on_real_archives(shared_data: Path) -> None:
    short = checked = 0
    for file in sorted((shared_data / "archives" / "_oracle").rglob("*.cdxj")):
        for text in file.read_text(errors="replace").splitlines():
            uri = json.loads(text.split(" ", 2)[2]).get("url", "")
            expected = by_surt(uri)
            if expected is not None:
                checked += 1
                short += module._PLAIN.match(uri.lower()) is not None
                assert urlkey(uri) == "".join(expected.split())
    assert checked > 1000
    assert short / checked > 0.6

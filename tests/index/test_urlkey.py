"""The short way to a urlkey gives what the surt library gives."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from surt import surt

from pinakes.index import urlkey as module
from pinakes.index.urlkey import urlkey

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


@given(uris)
def test_equals_surt(uri: str) -> None:
    numeric = module._NUMERIC_HOST.match(uri)
    expected = None if numeric else by_surt(uri)
    if expected is not None:
        assert urlkey(uri) == "".join(expected.split())


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


def test_names_are_never_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        pytest.fail(f"a name server was asked for {name}")

    monkeypatch.setattr(socket, "gethostbyname_ex", refuse)
    for uri in ("http://1.2/", "http://99999.1.1.1/x", "http://user@01.02/", "http:///7.8:80/"):
        assert urlkey(uri)


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

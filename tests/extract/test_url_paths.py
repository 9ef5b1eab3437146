"""Paths of hostile URLs stay below their folder, and are names that any file system takes."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.extract.url_paths import path_of_url, safe_path, with_suffix

NAME = re.compile(r"[A-Za-z0-9_~%+,=@][A-Za-z0-9._~%+,=@&-]*\Z")
PIECES = [
    *("..", ".", "/", "//", "\\", "%2e%2e", "%2F", "\0", "\n", "\x1b[0m", "\u202e", "é", "\udcff"),
    *("?", "#", "@", ":", "[::1]", "~", "-rf", " ", "a", "a.html", "CON", "nul.txt", "com1."),
    *("index.jsonl", ".x.pinakes-part", "x" * 300, "/y" * 600, "http://", "file:///", "urn:"),
]
URLS = st.one_of(
    st.text(),
    st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")),
    st.lists(st.sampled_from(PIECES)).map("".join),
    st.lists(st.sampled_from(PIECES)).map(lambda parts: "http://example.org/" + "".join(parts)),
)


def require_safe(path: str) -> None:
    parts = path.split("/")
    for part in parts:
        assert NAME.match(part), path
        assert len(part) <= 200
        assert not part.endswith(".")
        assert part.split(".")[0].lower() not in ("con", "nul", "com1")
    assert parts[0].lower() != "index.jsonl"
    assert len(path) <= 1200
    assert os.path.normpath(f"/folder/{path}") == f"/folder/{path}"


@given(URLS)
def test_every_url_has_a_safe_path(url: str) -> None:
    path = path_of_url(url)
    require_safe(path)
    for suffix in ("404", "20200101000000", "0123456789abcdef"):
        path = with_suffix(path, suffix)
    require_safe(f"{path}.stored")


@given(st.lists(URLS, min_size=1).filter(any))
def test_every_list_of_names_has_a_safe_path(names: list[str]) -> None:
    require_safe(safe_path(names))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://example.org/a/b.html", "example.org/a/b.html"),
        ("https://user:word@Example.ORG:8080/", "example.org%3A8080/index.html"),
        ("http://example.org", "example.org/index.html"),
        ("http://example.org?q=1", "example.org/index.html%3Fq=1"),
        ("http://example.org/a//b/?q=/1#c", "example.org/a/b/index.html%3Fq=%2F1%23c"),
        ("http://example.org/../a/./..%2F", "example.org/%2E%2E/a/%2E/%2E.%2F"),
        ("http://index.jsonl/index.jsonl", "%69ndex.jsonl/index.jsonl"),
        ("http://example.org/-rf/aux.c/a.", "example.org/%2Drf/%61ux.c/a%2E"),
        ("http://example.org/\\é\udcff", "example.org/%5C%C3%A9%FF"),
        ("http://example.org/a/&b=1&c", "example.org/a/%26b=1&c"),
        ("dns:example.org", "dns/example.org"),
        ("file:///etc/passwd", "file/etc/passwd"),
        ("/etc/passwd", "no-url/etc/passwd"),
        (None, "no-url/body"),
    ],
)
def test_path(url: str | None, path: str) -> None:
    assert path_of_url(url) == path


def test_long_names_differ_and_keep_their_extension() -> None:
    one, other = (path_of_url(f"http://example.org/{'a' * 300}{end}.png") for end in "xy")
    assert one != other
    assert one.endswith(".png")
    one, other = (path_of_url(f"http://example.org/{'a/' * 900}{end}") for end in "xy")
    assert one != other


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("h/a.html", "h/a.1.html"),
        ("h.org/a", "h.org/a.1"),
        ("a.tar.gz", "a.tar.1.gz"),
        ("a.averylongextension", "a.averylongextension.1"),
    ],
)
def test_suffix_stands_before_the_extension(path: str, expected: str) -> None:
    assert with_suffix(path, "1") == expected

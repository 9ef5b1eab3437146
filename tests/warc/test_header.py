"""Record headers: as written, and by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.warc.header import Header, strip_brackets


@pytest.mark.parametrize(
    ("lines", "name", "value"),
    [
        (b"WARC-Type: response\r\n", "WARC-Type", "response"),
        (b"warc-type: response\r\n", "WARC-Type", "response"),
        (b"WARC-TYPE:response\r\n", "warc-type", "response"),
        (b"WARC-Type: response\n", "WARC-Type", "response"),
        (b"WARC-Type :\tresponse \t\r\n", "WARC-Type", "response"),
        (b"A: 1\r\n 2\r\n\t3\r\n", "A", "1 2 3"),
        (b"A:\r\n 1\r\n", "A", "1"),
        (b"A: 1\n 2\n", "A", "1 2"),
        (b"A: 1\r\nA: 2\r\n", "a", "1"),
        (b"A: b: c\r\n", "A", "b: c"),
        (b"no colon\r\nA: 1\r\n", "A", "1"),
        (b"A: \xff\xfe\r\n", "A", "\udcff\udcfe"),
        (b"A: \xce\xa0\xce\xaf\r\n", "A", "Πί"),
        (b"A:\r\n", "A", ""),
        (b"A: 1\r\n", "B", None),
        (b"A: 1\rB: 2\r\n", "A", "1\rB: 2"),
        (b"A: 1\x0bB: 2\r\n", "A", "1\x0bB: 2"),
        (b"A: 1\xc2\x85B: 2\r\n", "A", "1\x85B: 2"),
    ],
    ids=[
        "as-the-standard-writes-it",
        "lower-case",
        "upper-case",
        "lf-only",
        "blanks",
        "folded",
        "folded-from-the-start",
        "folded-lf",
        "repeated",
        "colon-in-value",
        "no-colon",
        "not-utf-8",
        "utf-8",
        "empty-value",
        "absent",
        "bare-cr",
        "vertical-tab",
        "next-line-character",
    ],
)
def test_get(lines: bytes, name: str, value: str | None) -> None:
    header = Header(b"WARC/1.1\r\n" + lines + b"\r\n")
    assert header.get(name) == value
    assert header.field(name.lower()) == value


def test_repeated_fields_keep_their_order() -> None:
    header = Header(b"WARC/1.1\r\nA: 1\r\nB: 2\r\na: 3\r\n\r\n")
    assert header.get_all("A") == ["1", "3"]
    assert header.fields() == [("A", "1"), ("B", "2"), ("a", "3")]


@pytest.mark.parametrize(
    ("raw", "version", "line_end"),
    [
        (b"WARC/1.0\r\n\r\n", "WARC/1.0", b"\r\n"),
        (b"WARC/0.18\n\n", "WARC/0.18", b"\n"),
        (b"WARC/1.1 \t\r\nA: 1\n\n", "WARC/1.1", b"\r\n"),
    ],
    ids=["crlf", "lf", "mixed"],
)
def test_version_line(raw: bytes, version: str, line_end: bytes) -> None:
    assert Header(raw).version == version
    assert Header(raw).line_end == line_end


LINE = st.sampled_from(
    [b"A: 1", b"b:2", b" fold", b"\tfold", b"no colon", b" ", b"\x0c", b"\xff: \xfe", b": x", b"\r"]
)


@given(st.lists(st.tuples(LINE, st.sampled_from([b"\n", b"\r\n"]))), st.booleans())
def test_lines_are_the_bytes(parts: list[tuple[bytes, bytes]], closed: bool) -> None:
    body = b"".join(line + end for line, end in parts if line + end != b"\r\n")
    raw = b"WARC/1.1\r\n" + body + (b"\r\n" if closed else b"")
    lines = Header(raw).lines()
    assert b"".join(line.raw for line in lines) == body
    for line in lines:
        assert line.name or line.value is not None


def test_lines_join_folds() -> None:
    (first, second) = Header(b"WARC/1.1\r\nA: 1\r\n 2\r\nnone\r\n\r\n").lines()
    assert first == ("A", "1 2", b"A: 1\r\n 2\r\n")
    assert second == ("", "none", b"none\r\n")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("http://a/", "http://a/"),
        ("<http://a/>", "http://a/"),
        (" <http://a/> ", "http://a/"),
        ("‹http://a/›", "http://a/"),
        ("<http://a/", "http://a/"),
        ("http://a/>", "http://a/>"),
        ("<>", ""),
        ("<", ""),
        ("", ""),
        (None, None),
    ],
    ids=ascii,
)
def test_strip_brackets(text: str | None, bare: str | None) -> None:
    assert strip_brackets(text) == bare

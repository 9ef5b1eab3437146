"""HTTP heads, and chunked coding taken off however a body is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.warc.http.message import Dechunker, HttpHead, head_end


@pytest.mark.parametrize(
    ("block", "end"),
    [
        (b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody", 25),
        (b"HTTP/1.1 200 OK\nA: 1\n\nbody", 22),
        (b"HTTP/1.1 200 OK\nA: 1\n\nbody\r\n\r\n", 22),
        (b"HTTP/1.1 200 OK\r\nA: 1\n\nbody", 23),
        (b"HTTP/1.1 200 OK\nA: 1\r\n\r\n\n\nbody", 24),
        (b"HTTP/1.1 200 OK\nA: 1\n\n\r\nbody", 22),
        (b"\r\nbody", -1),
        (b"\n\nbody", 2),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\n", -1),
        (b"", -1),
    ],
    ids=[
        "crlf",
        "lf",
        "lf-then-crlf-in-body",
        "mixed",
        "mixed-the-other-way",
        "body-begins-with-crlf",
        "one-line-end",
        "nothing-but-the-end",
        "no-end",
        "empty",
    ],
)
def test_head_end(block: bytes, end: int) -> None:
    assert head_end(block) == end
    assert head_end(b"xx" + block, 2) == (end + 2 if end >= 0 else -1)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"HTTP/1.1 200 OK", 200),
        (b"HTTP/1.1 200", 200),
        (b"HTTP/2 404 Not Found", 404),
        (b"http/1.0  301  Moved", 301),
        (b"HTTP/1.1 099 Odd", 99),
        (b"HTTP/1.1 2000 OK", None),
        (b"HTTP/1.1 20 OK", None),
        (b"HTTP/1.1 OK", None),
        (b"ICY 200 OK", None),
        (b"GET / HTTP/1.1", None),
        (b"", None),
    ],
    ids=ascii,
)
def test_status(line: bytes, status: int | None) -> None:
    assert HttpHead(line + b"\r\n\r\n").status == status


@pytest.mark.parametrize(
    ("lines", "content_length", "chunked", "media_type"),
    [
        (b"Content-Length: 5\r\n", 5, False, None),
        (b"CONTENT-LENGTH:5 \r\n", 5, False, None),
        (b"Content-Length: 5, 5\r\n", None, False, None),
        (b"Content-Length: -5\r\n", None, False, None),
        (b"Content-Length: \xd9\xa5\r\n", None, False, None),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n", None, False, None),
        (b"Content-Length: 1\r\n 2\r\n", None, False, None),
        (b"X-Content-Length: 7\r\nContent-Length: 5\r\n", 5, False, None),
        (b"Transfer-Encoding: chunked\r\n", None, True, None),
        (b"transfer-encoding: gzip, CHUNKED\r\n", None, True, None),
        (b"Content-Type: Text/HTML; charset=x\r\n", None, False, "text/html"),
        (b"Content-Type: \r\n", None, False, None),
    ],
    ids=[
        "length",
        "length-in-capitals",
        "two-lengths-in-one",
        "negative",
        "arabic-digit",
        "5000-digits",
        "folded",
        "another-field-before",
        "chunked",
        "chunked-in-capitals",
        "media-type",
        "empty-media-type",
    ],
)
def test_fields(
    lines: bytes, content_length: int | None, chunked: bool, media_type: str | None
) -> None:
    head = HttpHead(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n")
    assert head.content_length == content_length
    assert head.says_chunked == chunked
    assert head.media_type == media_type


@pytest.mark.parametrize(
    ("head", "whole"),
    [
        (b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n", True),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n", False),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n", False),
    ],
    ids=["exact", "more", "unknown", "short", "chunked", "two-lengths", "another-status"],
)
def test_is_plainly_whole(head: bytes, whole: bool) -> None:
    assert HttpHead(head + b"\r\n").is_plainly_whole(5) == whole


FRAMING = st.sampled_from(
    (
        *(b"\r\n", b"\n", b" ", b"\t", b"\r", b":", b": ", b"X", b"5", b"9", b"chunked"),
        *(b"Content-Length", b"CONTENT-LENGTH", b"Transfer-Encoding", b"\r\nContent-Length: 5"),
    )
)


@given(st.lists(FRAMING, max_size=12).map(b"".join))
def test_what_is_plainly_whole_is_so_by_a_parse(lines: bytes) -> None:
    head = HttpHead(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n\r\n")
    if head.is_plainly_whole(5):
        assert head.status == 200
        assert not head.says_chunked
        assert (head.content_length or 0) <= 5


def test_a_request_has_a_method() -> None:
    assert HttpHead(b"POST / HTTP/1.1\r\n\r\n").method == "POST"


def dechunk(pieces: list[bytes]) -> tuple[bytes, Dechunker]:
    dechunker = Dechunker()
    body = b"".join(bytes(part) for piece in pieces for part in dechunker.feed(piece))
    return body, dechunker


CHUNKED = {
    "plain": (b"5\r\nhello\r\n0\r\n\r\n", b"hello", True),
    "two": (b"1\r\na\r\nA\r\n0123456789\r\n0\r\n\r\n", b"a0123456789", True),
    "extension": (b'5;a="b"\r\nhello\r\n0;x\r\n\r\n', b"hello", True),
    "trailer": (b"1\r\na\r\n0\r\nDigest: x\r\nB: y\r\n\r\n", b"a", True),
    "lf": (b"1\na\n0\n\n", b"a", True),
    "blanks": (b" 1 \r\na\r\n000\r\n\r\n", b"a", True),
    "surplus": (b"1\r\na\r\n0\r\n\r\nmore", b"a", True),
    "nothing": (b"0\r\n\r\n", b"", True),
    "no-last-line": (b"1\r\na\r\n0\r\n", b"a", False),
    "cut-in-chunk": (b"5\r\nhel", b"hel", False),
    "cut-in-size": (b"5", b"", False),
    "size-too-large": (b"9\r\nhello\r\n0\r\n\r\n", b"hello\r\n0\r", False),
    "size-too-small": (b"2\r\nhello\r\n0\r\n\r\n", b"he", False),
    "not-chunked": (b"<html>\r\n", b"", False),
    "size-of-20-digits": (b"FFFFFFFFFFFFFFFFFFFF\r\n", b"", False),
    "endless-size": (b"0" * 9000, b"", False),
    "line-of-4096": (b"5;%b\r\nhello\r\n0\r\n\r\n" % (b"a" * 4093), b"hello", True),
    "line-of-4097": (b"5;%b\r\nhello\r\n0\r\n\r\n" % (b"a" * 4094), b"", False),
    "bytes-that-are-no-ascii": (b"\xff\r\n", b"", False),
    "empty": (b"", b"", False),
}


@pytest.mark.parametrize("case", CHUNKED.values(), ids=CHUNKED.keys())
def test_dechunking_does_not_depend_on_the_pieces(case: tuple[bytes, bytes, bool]) -> None:
    coded, body, finished = case
    cuts = [[coded], [coded[i : i + 1] for i in range(len(coded))]]
    cuts += [[coded[:at], coded[at:]] for at in range(min(len(coded), 99))]
    for pieces in cuts:
        found, dechunker = dechunk(pieces)
        assert found == body
        assert dechunker.finished == finished
        assert not (dechunker.failed and dechunker.finished)
    assert dechunker.failed or case != CHUNKED["endless-size"]


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=6), st.lists(st.integers(0, 300)))
def test_chunking_comes_off(parts: list[bytes], cuts: list[int]) -> None:
    coded = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    edges = [0, *sorted(min(cut, len(coded)) for cut in cuts), len(coded)]
    pieces = [coded[a:b] for a, b in pairwise(edges)]
    body, dechunker = dechunk(pieces)
    assert body == b"".join(parts)
    assert dechunker.finished

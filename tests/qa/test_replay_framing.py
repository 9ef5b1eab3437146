"""Where a body ends, and how it is coded: what its header says, and what is there."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Browsing, browsing
from landed_stores import page

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SITE = "http://example.org"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
SIX = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
GZIPPED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n"
NUMBERS = b"10\n20\n30\n40\n50\n60\n70\n80\n90\n"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("head", "body", "sent", "problem"),
    [
        (CHUNKED, b"<p>not chunked at all", b"<p>not chunked at all", None),
        (CHUNKED, b"5\r\nhello\r\n0\r\n\r\n", b"hello", None),
        (CHUNKED, b"5\r\nhello\r\nff\r\nworld", b"helloworld", "ends within a chunk"),
        (CHUNKED, b"5\r\nhello\r\nzz\r\nworld", b"hello", "ends within a chunk"),
        (CHUNKED, b"0\r\n\r\n", b"", None),
        (CHUNKED, NUMBERS, NUMBERS, None),
        (CHUNKED, NUMBERS.replace(b"\n", b"\r\n"), NUMBERS.replace(b"\n", b"\r\n"), None),
        (CHUNKED, b"1\n2\n3\n4\n5\n6\n", b"1\n2\n3\n4\n5\n6\n", None),
        (CHUNKED, b"99\n12\n", b"99\n12\n", None),
        (CHUNKED, b"5\nhello\n0\n\n", b"hello", None),
        (CHUNKED, b"ff\r\nhello", b"hello", "ends within a chunk"),
        (CHUNKED, b"5\r\nhello\r", b"hello", "ends within a chunk"),
        (SIX, b"page\r\n\r\n", b"page\r\n", None),
        (SIX, b"page\r\n<p>", b"page\r\n<p>", None),
        (SIX, b"page", b"page", None),
        (GZIPPED, gzip.compress(b"page", mtime=0), gzip.compress(b"page", mtime=0), None),
    ],
    ids=[
        "not at all",
        "well",
        "cut off",
        "broken",
        "empty",
        "numbers",
        "numbers, CR LF",
        "counted",
        "two numbers",
        "ended by LF",
        "cut off in the first",
        "cut off behind the first",
        "line ends over",
        "more over",
        "less",
        "a length that lies",
    ],
)
def test_framing_that_lies(
    at: Browsing, head: bytes, body: bytes, sent: bytes, problem: str | None
) -> None:
    at.store.land("c", "a.warc.gz", page(SITE, body, head=head))
    answer = at.ask(SITE)
    assert answer[::2] == (200, sent)
    assert "transfer-encoding" not in answer.fields
    said = at.last().problem
    assert said is None if problem is None else problem in (said or "")


def test_what_the_crawl_cut_off_is_all_there_is(at: Browsing) -> None:
    """The bytes are the same in every generation, so that pages with it can be proven alike."""
    first, cut_off = "2019-01-01T00:00:00Z", [("WARC-Truncated", "length")]
    refers = [("WARC-Refers-To-Target-URI", SITE), ("WARC-Refers-To-Date", first)]
    again = page(f"{SITE}/again", b"", record_type="revisit", extra=[*refers, *cut_off])
    at.store.land(
        "c", "a.warc.gz", page(SITE, b"half", date=first, extra=cut_off), page(f"{SITE}/b"), again
    )
    for uri, problem in ((SITE, True), (f"{SITE}/b", False), (f"{SITE}/again", True)):
        assert at.ask(uri).outcome == "hit"
        last = at.last()
        assert last.is_whole
        assert last.problem == ("truncated by the crawl: length" if problem else None)
    whole = page(f"{SITE}/whole", b"all of it", date=first)
    refers[0] = ("WARC-Refers-To-Target-URI", f"{SITE}/whole")
    bare = page(f"{SITE}/bare", b"", record_type="revisit", extra=[*refers, *cut_off])
    at.store.land("c", "b.warc.gz", whole, bare)
    assert at.ask(f"{SITE}/bare").body == b"all of it"
    assert at.last().problem is None  # a revisit's own body is always left off


def test_a_coding_that_was_taken_off(at: Browsing) -> None:
    at.store.land(
        "c",
        "a.warc.gz",
        page(SITE, b"decoded", head=GZIPPED),
        page(f"{SITE}/coded", gzip.compress(b"x", mtime=0), head=GZIPPED),
    )
    assert "content-encoding" not in at.ask(SITE).fields
    assert at.ask(f"{SITE}/coded").fields["content-encoding"] == "gzip"

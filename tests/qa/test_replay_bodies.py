"""Revisits, whoever wrote them: whose header, whose body, and where there is none."""

from __future__ import annotations

import gzip
import http.client
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_builders import frame
from browsing import MOMENT, Browsing, ask_on, browsing
from landed_stores import page, revisit, sha1_of

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
DATE = "2020-01-02T03:04:05Z"
SITE = "http://example.org"
BODY = bytes(range(256)) * 40


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        yield made


def not_modified(uri: str, date: str) -> bytes:
    """A revisit that says so, and does not say since when."""
    head = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    profile = ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
    return page(uri, b"", date=date, record_type="revisit", head=head, extra=[profile])


def test_a_revisit_has_its_own_header_and_its_originals_body(at: Browsing) -> None:
    own = b"HTTP/1.1 200 Still\r\nContent-Type: text/plain\r\nX-Own: yes\r\n\r\n"
    refers = [
        ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
        ("WARC-Payload-Digest", sha1_of(BODY)),
        ("WARC-Refers-To-Target-URI", f"{SITE}/first"),
        ("WARC-Refers-To-Date", DATE),
    ]
    at.store.land(
        "c",
        "a.warc.gz",
        page(f"{SITE}/first", BODY),
        page(f"{SITE}/again", b"", record_type="revisit", head=own, extra=refers),
        page(f"{SITE}/bare", b"", record_type="revisit", head=b"", extra=refers),
    )
    answer = at.ask(f"{SITE}/again", Range="bytes=0-9")
    assert (answer.status, answer.body, answer.fields["x-own"]) == (206, BODY[:10], "yes")
    assert at.ask(f"{SITE}/again").body == BODY
    bare = at.ask(f"{SITE}/bare")
    assert (bare.body, bare.fields["content-type"]) == (BODY, "text/html")


def test_not_modified_means_what_was_said_before(at: Browsing) -> None:
    head = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    at.store.land(
        "c",
        "a.warc.gz",
        page(SITE, BODY, date="2019-01-01T00:00:00Z"),
        not_modified(SITE, DATE),
        page(f"{SITE}/x", b"", head=head),
        page(f"{SITE}/x", b"x", date="2021-01-01T00:00:00Z"),
        page(f"{SITE}/only", b"", head=head),
    )
    assert at.ask(SITE, If_None_Match="x")[::2] == (200, BODY)
    assert at.ask(f"{SITE}/x")[::2] == (200, b"x")
    assert at.ask(f"{SITE}/only").status == 304


def test_not_modified_means_nothing_that_only_another_collection_has(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", not_modified(SITE, DATE), collection="public")
    at.store.land(
        "c2", "b.warc.gz", page(SITE, b"room", date="2019-01-01T00:00:00Z"), collection="room"
    )
    session = at.proxy.open_session(collection="public")
    session.begin_page("p", MOMENT)
    public = at.client_of(session)
    assert public.ask(SITE).outcome == "fault"
    assert at.ask(SITE)[::2] == (200, b"room")
    at.store.land(
        "c", "c.warc.gz", page(SITE, b"public", date="2018-01-01T00:00:00Z"), collection="public"
    )
    assert public.ask(SITE).body == b"public"


@pytest.mark.parametrize("bare", [True, False], ids=["without a head", "with its own"])
def test_not_modified_since_a_revisit_means_what_that_stands_for(at: Browsing, bare: bool) -> None:
    """The site was A, then B, then A again, which the crawler wrote as a revisit."""
    first, again = "2018-01-01T00:00:00Z", "2019-06-01T00:00:00Z"
    refers = [("WARC-Refers-To-Target-URI", SITE), ("WARC-Refers-To-Date", first)]
    head = b"" if bare else b"HTTP/1.1 200 OK\r\nX-Again: 1\r\n\r\n"
    at.store.land(
        "c",
        "a.warc.gz",
        page(SITE, b"A", date=first),
        page(SITE, b"B", date="2019-01-01T00:00:00Z"),
        page(SITE, b"", date=again, record_type="revisit", head=head, extra=refers),
        page(SITE, b"busy", date="2019-07-01T00:00:00Z", head=b"HTTP/1.1 503 Busy\r\n\r\n"),
        not_modified(SITE, "2019-08-01T00:00:00Z"),
        not_modified(SITE, DATE),
    )
    answer = at.ask(SITE)
    assert (answer.status, answer.body) == (200, b"A")
    assert answer.fields.get("x-again") == (None if bare else "1")


def test_a_lost_original_is_a_fault_and_a_redirect_needs_none(at: Browsing) -> None:
    lost = revisit(f"{SITE}/lost", DATE, f"{SITE}/nowhere", DATE)
    refers = [
        ("WARC-Refers-To-Target-URI", f"{SITE}/nowhere"),
        ("WARC-Refers-To-Date", DATE),
    ]
    moved = b"HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n"
    at.store.land(
        "c",
        "a.warc.gz",
        lost,
        page(f"{SITE}/moved", b"", record_type="revisit", head=moved, extra=refers),
    )
    answer = at.ask(f"{SITE}/lost")
    assert (answer.status, answer.outcome) == (502, "fault")
    assert f"{SITE}/nowhere".encode() in answer.body
    last = at.last()
    assert last.outcome == "fault"
    assert (last.capture_key or "").startswith("org,example)/lost ")
    answer = at.ask(f"{SITE}/moved")
    assert (answer.status, answer.fields["location"], answer.body) == (302, "/there", b"")


# --- Where a body ends, and how it is coded: what its header says, and what is there


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
SIX = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
GZIPPED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n"
NUMBERS = b"10\n20\n30\n40\n50\n60\n70\n80\n90\n"


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


# --- Damage in the archive: an answer that names the record, and never another's bytes


# Nothing that gzip makes small: what is damaged lies where it should.
NOISE = os.urandom(20_000)
HUGE = os.urandom(9 << 20)


def stored(at: Browsing) -> Path:
    return at.store.folder / "archive" / "c" / "a.warc.gz"


def check_fault(at: Browsing, url: str, *words: str) -> None:
    answer = at.ask(url)
    assert (answer.status, answer.outcome) == (502, "fault")
    last = at.last()
    assert (last.outcome, last.status, last.payload_digest) == ("fault", 502, None)
    assert last.capture_key is not None
    for word in words:
        assert word in (last.problem or "")
        assert word.encode() in answer.body


@pytest.mark.parametrize("place", [0, 10, 300, 10_000, 20_000])
def test_a_byte_that_changed(at: Browsing, place: int) -> None:
    """Also where a sound capture of another day is there: it would hide the damage."""
    at.store.land(
        "c", "a.warc.gz", page(SITE, NOISE), page(SITE, b"other", date="2018-01-01T00:00:00Z")
    )
    data = bytearray(stored(at).read_bytes())
    data[place] ^= 0xFF
    stored(at).write_bytes(data)
    check_fault(at, SITE, "c/a.warc.gz:0")


@pytest.mark.parametrize("place", [600, 10_000, 20_000])
@pytest.mark.parametrize("form", ["a.warc", "a.warc.zst"])
def test_a_byte_that_changed_where_there_is_no_checksum(
    at: Browsing, form: str, place: int
) -> None:
    record = gzip.decompress(page(SITE, NOISE))
    at.store.land("c", form, record if form == "a.warc" else frame(record, checksum=False))
    assert at.ask(SITE).body == NOISE
    file = stored(at).with_name(form)
    data = bytearray(file.read_bytes())
    data[place] ^= 0xFF
    file.write_bytes(data)
    check_fault(at, SITE, f"c/{form}:0")


@pytest.mark.parametrize("left", [0, 1, 100, 10_000, 20_000])
def test_a_file_that_was_cut(at: Browsing, left: int) -> None:
    at.store.land("c", "a.warc.gz", page(f"{SITE}/first", b"first"), page(SITE, NOISE))
    first = len(page(f"{SITE}/first", b"first"))
    stored(at).write_bytes(stored(at).read_bytes()[: first + left])
    check_fault(at, SITE, "c/a.warc.gz")
    assert at.ask(f"{SITE}/first").body == b"first"


def test_a_file_that_is_gone(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", page(SITE, b"x"))
    stored(at).unlink()
    check_fault(at, SITE, "c/a.warc.gz")


def test_the_original_of_a_revisit_is_damaged(at: Browsing) -> None:
    refers = [
        ("WARC-Payload-Digest", sha1_of(NOISE)),
        ("WARC-Refers-To-Target-URI", f"{SITE}/first"),
        ("WARC-Refers-To-Date", "2020-01-02T03:04:05Z"),
    ]
    again = page(f"{SITE}/again", b"", record_type="revisit", extra=refers)
    at.store.land("c", "a.warc.gz", page(f"{SITE}/first", NOISE))
    at.store.land("c", "b.warc.gz", again)
    data = bytearray(stored(at).read_bytes())
    data[5000] ^= 0xFF
    stored(at).write_bytes(data)
    check_fault(at, f"{SITE}/again", "c/a.warc.gz:0")


def test_what_has_no_status_is_a_fault(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", page(SITE, b"x", head=b"junk\r\n\r\n"))
    check_fault(at, SITE, "no HTTP status")


def test_a_large_body_cut_while_it_is_sent(at: Browsing) -> None:
    """The head is out, so the connection ends short of the length that was promised."""
    at.store.land("c", "a.warc.gz", page(f"{SITE}/huge", HUGE))
    connection = at.client.connect(SITE)
    connection.request("GET", f"{SITE}/huge")
    answer = connection.getresponse()
    assert int(answer.headers["Content-Length"]) == len(HUGE)
    with stored(at).open("r+b") as file:
        file.truncate(1 << 20)
    with pytest.raises((http.client.IncompleteRead, OSError)):
        answer.read()
    connection.close()
    last = at.last()
    assert (last.outcome, last.is_whole) == ("fault", False)
    assert "shorter" in (last.problem or "")


def test_others_are_answered_behind_a_fault(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", page(SITE, NOISE))
    stored(at).write_bytes(bytes(len(NOISE)))
    at.store.land("c", "b.warc.gz", page(f"{SITE}/fine", b"fine"))
    connection = at.client.connect(SITE)
    assert ask_on(connection, SITE).status == 502
    assert ask_on(connection, f"{SITE}/fine").body == b"fine"
    connection.close()

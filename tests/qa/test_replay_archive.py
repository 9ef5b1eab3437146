"""What the archive has, as a browser gets it: forms, ranges, dates."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from archive_builders import header, member
from browsing import MOMENT, Browsing, browsing
from landed_stores import page

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
DATE = "2020-01-02T03:04:05Z"
SITE = "http://example.org"
BODY = bytes(range(256)) * 40
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        yield made


def redirect(uri: str, to: str, *, date: str = DATE) -> bytes:
    return page(
        uri, b"moved", date=date, head=f"HTTP/1.1 301 Moved\r\nLocation: {to}\r\n\r\n".encode()
    )


def request(uri: str, text: bytes, *, date: str = DATE) -> bytes:
    """The request record beside a response."""
    fields = [
        ("WARC-Type", "request"),
        ("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-9000-{len(text):012d}>"),
        ("WARC-Target-URI", uri),
        ("WARC-Date", date),
        ("Content-Type", "application/http; msgtype=request"),
        ("Content-Length", str(len(text))),
    ]
    return member(header(fields) + text + b"\r\n\r\n")


def test_the_closest_capture_answers(at: Browsing) -> None:
    for day in range(1, 10):
        at.store.land(
            "c", f"{day}.warc.gz", page(SITE, b"%d" % day, date=f"2020-01-0{day}T00:00:00Z")
        )
    session = at.open(moment=MOMENT.replace(day=7, hour=5))
    assert at.client_of(session).ask(SITE).body == b"7"
    assert session.end_page().exchanges[0].distance_s == -int(
        timedelta(hours=5, minutes=4, seconds=5).total_seconds()
    )


def test_an_error_of_the_same_second_is_passed_over(at: Browsing) -> None:
    at.store.land(
        "c",
        "a.warc.gz",
        page(SITE, b"gone", head=b"HTTP/1.1 503 Busy\r\n\r\n"),
        page(f"{SITE}/", b"there"),
    )
    assert at.ask(SITE).body == b"there"


def test_a_site_that_leads_from_http_to_https(at: Browsing) -> None:
    at.store.land(
        "c",
        "a.warc.gz",
        redirect("http://example.org/", "https://www.example.org/"),
        page("https://www.example.org/", b"home", date="2020-01-02T03:04:09Z"),
    )
    first = at.ask("http://example.org/")
    assert (first.status, first.fields["location"]) == (301, "https://www.example.org/")
    assert at.ask("https://www.example.org/").body == b"home"


def test_a_redirect_in_a_circle_is_answered_as_captured(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", redirect(f"{SITE}/loop", "/loop"))
    assert at.ask(f"{SITE}/loop").status == 301


def test_a_form_by_what_was_sent(at: Browsing) -> None:
    uri = f"{SITE}/form"
    ask = (
        b"POST /form HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 3\r\n\r\na=%d"
    )
    at.store.land(
        "c",
        "a.warc.gz",
        request(uri, ask % 1),
        page(uri, b"one"),
        page(f"{SITE}/form?plain", b"plain"),
    )
    at.store.land("c", "b.warc.gz", request(uri, ask % 2), page(uri, b"two"))
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert at.ask(uri, "POST", b"a=2", **form).body == b"two"
    assert at.ask(uri, "POST", b"a=1", **form).body == b"one"
    assert at.ask(uri, "POST", b"a=3", **form).outcome == "miss"
    assert at.ask(uri).outcome == "miss"
    keys = [exchange.urlkey for exchange in at.log()]
    assert keys[0] == "org,example)/form?__wb_method=post&a=2"


def test_a_form_that_is_not_in_its_coding_is_what_was_sent(at: Browsing) -> None:
    uri = f"{SITE}/form"
    ask = (
        b"POST /form HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\na=1"
    )
    at.store.land("c", "a.warc.gz", request(uri, ask), page(uri, b"one"))
    form = {"Content_Type": "application/x-www-form-urlencoded", "Content_Encoding": "gzip"}
    assert at.ask(uri, "POST", b"a=1", **form).body == b"one"
    assert at.ask(uri, "POST", gzip.compress(b"a=1"), **form).body == b"one"


def test_head_says_what_get_would_give(at: Browsing) -> None:
    at.store.land("c", "a.warc.gz", page(SITE, BODY))
    answer = at.ask(SITE, "HEAD")
    assert (answer.status, answer.fields["content-length"], answer.body) == (200, "10240", b"")
    last = at.last()
    assert (last.outcome, last.payload_digest, last.is_whole) == ("hit", None, False)


@pytest.mark.parametrize(
    "head_and_body",
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", BODY),
        (CHUNKED, b"1000\r\n" + BODY[:4096] + b"\r\n1800\r\n" + BODY[4096:] + b"\r\n0\r\n\r\n"),
        (b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-10239/10240\r\n\r\n", BODY),
    ],
    ids=["plain", "chunked", "stored 206"],
)
def test_parts_of_a_body(at: Browsing, head_and_body: tuple[bytes, bytes]) -> None:
    head, body = head_and_body
    at.store.land("c", "a.warc.gz", page(SITE, body, head=head))
    whole = at.ask(SITE)
    assert whole[::2] == (200, BODY)
    part = at.ask(SITE, Range="bytes=4000-5999")
    assert part[::2] == (206, BODY[4000:6000])
    assert part.fields["content-range"] == "bytes 4000-5999/10240"
    assert at.ask(SITE, Range="bytes=-10").body == BODY[-10:]
    assert at.ask(SITE, Range="bytes=10240-").status == 416
    log = at.log()
    assert [exchange.is_whole for exchange in log] == [True, False, False, False]
    assert log[0].payload_digest != log[1].payload_digest


def test_a_stored_part_answers_those_who_ask_for_it(at: Browsing) -> None:
    uri = f"{SITE}/video.mp4"
    for start in (0, 5000):
        head = f"HTTP/1.1 206 Partial\r\nContent-Range: bytes {start}-{start + 4999}/10240\r\n\r\n"
        body = BODY[start : start + 5000]
        at.store.land("c", f"{start}.warc.gz", page(uri, body, head=head.encode()))
    answer = at.ask(uri, Range="bytes=6000-")
    assert answer[::2] == (206, BODY[6000:10000])
    assert answer.fields["content-range"] == "bytes 6000-9999/10240"
    assert at.ask(uri, Range="bytes=0-9").body == BODY[:10]


def test_a_resource_has_its_media_type(at: Browsing) -> None:
    fields = [
        ("WARC-Type", "resource"),
        ("WARC-Record-ID", "<urn:uuid:00000000-0000-4000-8000-000000000001>"),
        ("WARC-Target-URI", f"{SITE}/r.pdf"),
        ("WARC-Date", DATE),
        ("Content-Type", "application/pdf"),
        ("Content-Length", "4"),
    ]
    at.store.land("c", "a.warc.gz", member(header(fields) + b"%PDF\r\n\r\n"))
    answer = at.ask(f"{SITE}/r.pdf")
    assert (answer.status, answer.fields["content-type"], answer.body) == (
        200,
        "application/pdf",
        b"%PDF",
    )
    assert at.last().media_type == "application/pdf"


def test_a_query_that_changes_from_load_to_load(at: Browsing) -> None:
    at.store.land(
        "c",
        "a.warc.gz",
        page(f"{SITE}/feed?id=1&_=1500000000000", b"one"),
        page(f"{SITE}/feed?id=2&_=1500000000000", b"two"),
        page(f"{SITE}/feed?id=2", b"plain two"),
        page(f"{SITE}/style.css?v=1", b"old", date="2019-01-01T00:00:00Z"),
        page(f"{SITE}/style.css?v=2", b"near"),
    )
    assert at.ask(f"{SITE}/feed?id=1&_=1777777777777").body == b"one"
    assert at.ask(f"{SITE}/feed?id=2&_=1500000000000").body == b"two"
    assert at.ask(f"{SITE}/feed?id=2&_=1777777777777").body == b"plain two"
    assert at.ask(f"{SITE}/feed?id=3&_=1777777777777").outcome == "miss"
    assert at.ask(f"{SITE}/style.css?v=3").body == b"near"
    assert [e.rule for e in at.log()] == ["cache-buster", None, "cache-buster", None, "static-file"]


def test_a_session_may_be_of_one_collection(at: Browsing) -> None:
    at.store.land("c1", "a.warc.gz", page(SITE, b"public"), collection="public")
    at.store.land(
        "c2",
        "a.warc.gz",
        page(SITE, b"reading room", date="2020-01-01T00:00:00Z"),
        page(f"{SITE}/only", b"only"),
        collection="room",
    )
    bodies = {}
    for collection in ("public", "room", "none", None):
        session = at.proxy.open_session(collection=collection)
        session.begin_page("p", MOMENT)
        answers = [at.client_of(session).ask(url) for url in (SITE, f"{SITE}/only")]
        bodies[collection] = [a.body if a.outcome == "hit" else a.outcome for a in answers]
    assert bodies == {
        "public": [b"public", "miss"],
        "room": [b"reading room", b"only"],
        "none": ["miss", "miss"],
        None: [b"public", b"only"],
    }


def test_what_lands_is_not_seen_yet(at: Browsing) -> None:
    from pinakes.catalog.file_rows import set_inflight

    at.store.land("c", "a.warc.gz", page(SITE, b"old", date="2019-01-01T00:00:00Z"))
    at.store.land("c", "b.warc.gz", page(SITE, b"new"))
    held = at.store.actor.claim(at.store.rows, "c/b.warc.gz", act="test-1")
    set_inflight(at.store.rows, held, "landing")
    assert at.ask(SITE).body == b"old"
    set_inflight(at.store.rows, held, None)
    assert at.ask(SITE).body == b"new"

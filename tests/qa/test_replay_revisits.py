"""Revisits, whoever wrote them: whose header, whose body, and where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import MOMENT, Browsing, browsing
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

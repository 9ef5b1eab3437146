"""Damage in the archive: an answer that names the record, and never another's bytes."""

from __future__ import annotations

import gzip
import http.client
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_builders import frame
from browsing import Browsing, ask_on, browsing
from landed_stores import page, sha1_of

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SITE = "http://example.org"
# Nothing that gzip makes small: what is damaged lies where it should.
NOISE = os.urandom(20_000)
HUGE = os.urandom(9 << 20)


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    with browsing(tmp_path) as made:
        yield made


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

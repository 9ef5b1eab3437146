"""`pinakes.open_store`: flat captures, lookups, bodies and their text."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from landed_stores import LandedStore, page, revisit, sha1_of

import pinakes
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.errors import ConfigError, InputRefused, UnresolvedReference

FIRST, SECOND, THIRD = ("2020-01-01T00:00:00Z", "2021-01-01T00:00:00.250Z", "2022-01-01T00:00:00Z")
URL = "http://example.org/"
NOISE = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(60))
TEXT = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin-1\r\nContent-Encoding: gzip\r\n\r\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three captures of a page: two of one body, deduplicated, and a crawler's revisit."""
    folder = tmp_path_factory.mktemp("made") / "store"
    made = LandedStore(folder)
    made.land("one", "a.warc.gz", page(URL, NOISE, date=FIRST))
    made.land(
        "two",
        "b.warc.gz",
        page(URL, NOISE, date=SECOND),
        revisit(URL, THIRD, URL, FIRST),
        revisit(f"{URL}gone", THIRD, f"{URL}nowhere", FIRST),
        page(f"{URL}text", gzip.compress("é".encode("cp1252")), head=TEXT, date=THIRD),
        page(f"{URL}undated", b"u", date="no date"),
    )
    made.close()
    words = ["-q", "dedupe", "--all", "--store", str(folder)]
    assert main(words) == Exit.DONE
    return folder


@pytest.fixture
def store(folder: Path) -> Iterator[pinakes.Store]:
    with pinakes.open_store(folder) as opened:
        yield opened


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[misc,arg-type]


def test_captures_are_flat(store: pinakes.Store) -> None:
    first, second, third = store.captures("HTTP://EXAMPLE.org:80/")
    assert (first.url, first.date, first.date_text) == (URL, utc(2020, 1, 1), FIRST)
    assert (first.type, first.status, first.media_type) == ("response", 200, "text/html")
    assert (first.size, first.digest) == (len(NOISE), sha1_of(NOISE))
    assert (first.crawl, first.collection, first.file) == ("one", "default", "one/a.warc.gz")
    assert (first.offset, first.inner_offset) == (0, 0)
    assert first.length > 0
    assert timedelta() <= datetime.now(timezone.utc) - first.landed < timedelta(days=1)
    assert (first.is_revisit, first.refers_to_url, first.refers_to_date) == (False, None, None)
    assert second.date == utc(2021, 1, 1, 0, 0, 0, 250_000)
    assert second.file == "two/g2/b.warc.gz"
    assert (second.type, third.type) == ("response", "revisit")
    for one in (second, third):
        assert (one.is_revisit, one.refers_to_url) == (True, URL)
        assert one.refers_to_date == utc(2020, 1, 1)
    with pytest.raises(FrozenInstanceError):
        first.url = "another"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("start", "stop", "dates"),
    [
        ("", "", [FIRST, SECOND, THIRD]),
        ("2021", "", [SECOND, THIRD]),
        (utc(2021, 1, 1), utc(2022, 1, 1), [SECOND]),
        (datetime(2021, 1, 1, 0, 0, 0, 251_000), "", [THIRD]),  # noqa: DTZ001 taken as UTC
        (utc(2021, 1, 1).astimezone(timezone(timedelta(hours=5))), "2022", [SECOND]),
    ],
)
def test_a_stretch_of_time(
    store: pinakes.Store, start: str | datetime, stop: str | datetime, dates: list[str]
) -> None:
    assert [c.date_text for c in store.captures(URL, start=start, stop=stop)] == dates


def test_a_capture_without_a_date(store: pinakes.Store) -> None:
    [capture] = store.captures(f"{URL}undated")
    assert (capture.date, capture.date_text) == (None, "no date")


def test_times_of_captures_are_as_people_write_them(store: pinakes.Store) -> None:
    dates = [c.date for c in store.captures(URL)]
    assert [
        c.date for c in store.captures(URL, start="1990-01", stop="2100-12-31T00:00:00Z")
    ] == dates
    with pytest.raises(pinakes.PinakesError, match="is not a time"):
        list(store.captures(URL, start="soon"))


def test_bodies_of_captures(store: pinakes.Store) -> None:
    assert [store.content(capture) for capture in store.captures(URL)] == [NOISE] * 3
    [capture] = store.captures(f"{URL}text")
    assert store.text(capture) == "é"
    assert gzip.decompress(b"".join(store.payload(capture))) == store.content(capture)
    with store.record(capture) as record:
        assert (record.offset, record.target_uri) == (capture.offset, capture.url)
    with pytest.raises(InputRefused, match="longer than"):
        store.content(capture, limit_bytes=0)


def test_an_original_that_is_not_there(store: pinakes.Store) -> None:
    [capture] = store.captures(f"{URL}gone")
    with pytest.raises(UnresolvedReference):
        store.content(capture)


def test_a_capture_that_is_not_there_any_more(store: pinakes.Store, tmp_path: Path) -> None:
    [capture] = store.captures(f"{URL}text")
    other = LandedStore(tmp_path / "other")
    other.close()
    with (
        pinakes.open_store(tmp_path / "other") as empty,
        pytest.raises(InputRefused, match="no such capture"),
    ):
        empty.content(capture)


@pytest.mark.parametrize(
    "query",
    [
        sha1_of(NOISE),
        hashlib.sha1(NOISE).hexdigest(),
        pinakes.Digest("sha1", hashlib.sha1(NOISE).digest()),
        pinakes.Digest("sha256", hashlib.sha256(NOISE).digest()),
    ],
)
def test_lookup_of_a_digest(store: pinakes.Store, query: str | pinakes.Digest) -> None:
    answer = store.lookup(query)
    assert (answer.known, answer.more, answer.query) == (True, False, str(query))
    assert [capture.date_text for capture in answer.captures] == [FIRST, SECOND]
    assert answer.since == answer.captures[0].landed
    first = store.lookup(query, limit=1)
    assert (first.captures, first.more) == (answer.captures[:1], True)


def test_lookup_of_a_url(store: pinakes.Store) -> None:
    assert store.lookup(URL).captures == tuple(store.captures(URL))


def test_lookup_of_what_is_not_known(store: pinakes.Store) -> None:
    answer = store.lookup(sha1_of(b"nowhere"))
    assert (answer.known, answer.captures, answer.since) == (False, (), None)


@pytest.mark.parametrize(
    ("query", "error"), [("sha1:TOOSHORT", ConfigError), ("md5:" + "0" * 32, InputRefused)]
)
def test_lookup_of_no_digest(store: pinakes.Store, query: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        store.lookup(query)


def test_one_line_says_what_it_is(store: pinakes.Store, folder: Path) -> None:
    assert repr(store) == f"<Store {folder}>"
    first, second, _ = store.captures(URL)
    assert repr(first) == f"<Capture {URL} {FIRST} 200 text/html {sha1_of(NOISE)}>"
    assert repr(second).endswith(", a revisit>")

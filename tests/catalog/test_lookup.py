"""Is it known, where, since when: by digest over any body, by URL, across collections."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from landed_stores import LandedStore, page, sha1_of

from pinakes.catalog.captures import place_captures, scan_captures_of
from pinakes.catalog.lookup import FoundCaptures, answer_all, scan_scopes
from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Put
from pinakes.warc.digest import parse_digest

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", page("http://example.org/"), page("http://example.org/b", b"b"))
    made.land("two", "a.warc.gz", page("http://example.org/c"), collection="other")
    made.land(
        "two",
        "c.warc.gz",
        page("http://example.org/d", b"5\r\nhello\r\n0\r\n\r\n", head=CHUNKED),
        collection="other",
    )
    yield made
    made.close()


def answer(store: LandedStore, query: str, limit: int = 10) -> FoundCaptures:
    [found] = answer_all(store.rows, [query], limit=limit)
    assert isinstance(found, FoundCaptures)
    return found


def spellings() -> list[str]:
    sha1 = hashlib.sha1(b"hello")
    base32 = sha1_of(b"hello")
    return [
        base32,
        base32.removeprefix("sha1:"),
        sha1.hexdigest(),
        f"sha-1:{sha1.hexdigest().upper()}",
        f"sha256:{hashlib.sha256(b'hello').hexdigest()}",
    ]


@pytest.mark.parametrize("query", spellings(), ids=lambda query: query[:7] + str(len(query)))
def test_a_digest_is_found_in_any_spelling_body_and_collection(
    store: LandedStore, query: str
) -> None:
    found = answer(store, query)
    assert [(m.placed.collection, m.placed.file, m.body) for m in found.matches] == [
        ("default", "one/a.warc.gz", "stored"),
        ("other", "two/c.warc.gz", "dechunked"),
        ("other", "two/a.warc.gz", "stored"),
    ]
    assert not found.more


def test_queries_are_answered_in_order_and_singly(store: LandedStore) -> None:
    md5 = f"md5:{hashlib.md5(b'hello').hexdigest()}"
    queries = ["http://nowhere.example/", md5, "HTTP://EXAMPLE.ORG", sha1_of(b"b")]
    unknown, refused, url, digest = answer_all(store.rows, queries)
    assert isinstance(unknown, FoundCaptures)
    assert unknown.matches == []
    assert isinstance(refused, InputRefused)
    assert isinstance(url, FoundCaptures)
    assert [m.placed.capture.facts.target_uri for m in url.matches] == ["http://example.org/"]
    assert isinstance(digest, FoundCaptures)
    assert [m.placed.capture.facts.target_uri for m in digest.matches] == ["http://example.org/b"]


def test_a_limit_says_that_there_is_more(store: LandedStore) -> None:
    found = answer(store, sha1_of(b"hello"), limit=2)
    assert len(found.matches) == 2
    assert found.more


def test_scopes_are_found_by_leaps(store: LandedStore) -> None:
    assert list(scan_scopes(store.rows)) == ["default", "other"]


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["rows", "published"])
def test_what_is_landing_is_in_no_answer(store: LandedStore, step: str) -> None:
    def kill(at: str) -> None:
        if at == step:
            raise _Killed

    before = answer(store, sha1_of(b"hello"), limit=3)
    with pytest.raises(_Killed):
        store.land("aaa", "k.warc.gz", page("http://example.org/"), at=kill)
    assert answer(store, sha1_of(b"hello"), limit=3) == before
    assert len(answer(store, "http://example.org/").matches) == 1
    first = answer(store, "http://example.org/", limit=1)
    assert (len(first.matches), first.more) == (1, False)
    store.land("aaa", "k.warc.gz", page("http://example.org/"))
    assert len(answer(store, "http://example.org/").matches) == 2
    assert answer(store, "http://example.org/", limit=1).more


def test_a_timeline_is_in_order_and_knows_state(store: LandedStore) -> None:
    dates = ["2021-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "2020-06-01T00:00:00.5Z"]
    store.land("three", "t.warc.gz", *(page("http://t.example/", date=d) for d in dates))
    key = urlkey("https://www.t.example")
    first, *rest = scan_captures_of(store.rows, key)
    assert [first.time, *(c.time for c in rest)] == sorted(
        ["20210101000000000", "20190101000000000", "20200601000000500"]
    )
    original = first.key.decode()
    mark = DedupeMark(run="r", hash_extension=0, copy_number=2, refers_to_key=original)
    act_time = first.landed_ms + 1
    store.rows.mutate(
        "captures",
        [
            Put(first.key, {Pin.COLUMN: encode_cell(Pin(run="r"))}, act_time),
            Put(rest[0].key, {DedupeMark.COLUMN: encode_cell(mark)}, act_time),
        ],
    )
    placed = list(place_captures(store.rows, scan_captures_of(store.rows, key)))
    assert [p.capture.pinned for p in placed] == [True, False, False]
    assert [p.capture.is_duplicate for p in placed] == [False, True, False]
    some = scan_captures_of(store.rows, key, start_time="2020", stop_time="2021")
    assert [c.time for c in some] == ["20200601000000500"]


def test_a_digest_is_no_url() -> None:
    assert parse_digest("http://example.org/") is None
    assert parse_digest("dns:example.org") is None

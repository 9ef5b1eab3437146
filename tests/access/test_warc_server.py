"""`GET /warc/{file}`: which bytes are given out, and which are not, over raw sockets."""

from __future__ import annotations

import gzip
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from io import BytesIO, RawIOBase
from itertools import accumulate
from typing import Any
from urllib.parse import quote

import pytest
from landed_stores import LandedStore, page
from scenes import Scene
from served_sites import connected, exchange, served, status_of

from pinakes.access.archive_bytes import ArchiveBytes
from pinakes.access.asgi_site import AsgiSite, Route
from pinakes.access.connection import Bounds
from pinakes.access.rules import AccessRules, parse_rules
from pinakes.access.warc_server import PIECE_BYTES, WarcServer
from pinakes.catalog.captures import decode_capture
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import read_entry, scan_entries
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.hbase_schema.withdrawal_cells import WithdrawingRecords
from pinakes.row_store.port import Put
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

HEADERS = {"X-Content-Type-Options": "nosniff"}
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
NAME = "a-crawl/a.warc.gz"


async def no_pages(*_: Any) -> None:
    raise AssertionError("a path below /warc/ that is not routed")


class Answer:
    """A response taken apart."""

    def __init__(self, raw: bytes) -> None:
        assert raw.count(b"HTTP/1.1 ") == 1 or b"WARC/1" in raw or len(raw) > 2000
        head, _, self.body = raw.partition(b"\r\n\r\n")
        self.status = status_of(raw)
        lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
        self.headers = {name.lower().decode(): value.decode() for name, _, value in lines}
        assert len(lines) == len(self.headers)
        assert self.headers["x-content-type-options"] == "nosniff"

    def __repr__(self) -> str:
        return f"{self.status} {self.headers} {self.body[:200]!r}"


Ask = Callable[..., Answer]


@contextmanager
def asking(
    rows: Any, archive: Any, rules: AccessRules | None = None, bounds: Bounds | None = None
) -> Iterator[Ask]:
    files = ArchiveBytes(rows, archive, rules=rules or AccessRules(), now=lambda: NOW)
    route = Route(re.compile(rb"/warc/.+"), WarcServer(files))
    with served(AsgiSite(no_pages, hosts=None, headers=HEADERS, routes=[route]), bounds) as address:

        def ask(name: str, method: str = "GET", **headers: str) -> Answer:
            lines = [f"{method} /warc/{name} HTTP/1.1", "Host: localhost", "Connection: close"]
            lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
            return Answer(exchange(address, "\r\n".join([*lines, "", ""]).encode("latin-1")))

        ask.address = address  # type: ignore[attr-defined]
        yield ask


@pytest.fixture
def content(store: LandedStore) -> bytes:
    store.land("a-crawl", "a.warc.gz", *(page(f"http://{n}.example/") for n in "abc"))
    return (store.folder / "archive" / NAME).read_bytes()


@pytest.fixture
def ask(store: LandedStore, content: bytes) -> Iterator[Ask]:
    with asking(store.rows, store.archive) as ask:
        yield ask


def test_withdrawn_records_are_gone_until_they_are_rewritten(
    store: LandedStore, content: bytes, ask: Ask
) -> None:
    facts = read_entry(store.rows, NAME).facts
    assert facts is not None
    cell = WithdrawingRecords(act="withdraw-1", landing=facts.act, records="1")
    cells = {WithdrawingRecords.COLUMN: encode_cell(cell)}
    store.rows.mutate("files", [Put(encode_file_key(NAME), cells, None)])
    first, second, third = (row.offset for row in iter_sidecar(store.archive, NAME))
    assert ask(NAME).status == 410
    assert ask(NAME, "HEAD").status == 410
    gone = ask(NAME, range=f"bytes={second}-{third - 1}")
    assert (gone.status, gone.body) == (410, b"410 Gone: a record in this range was withdrawn\n")
    assert ask(NAME, range=f"bytes={second - 1}-{second}").status == 410
    for start, end in ((first, second), (third, len(content))):
        assert ask(NAME, range=f"bytes={start}-{end - 1}").body == content[start:end]


def test_a_whole_file(ask: Ask, content: bytes) -> None:
    answer, head = ask(NAME), ask(NAME, "HEAD")
    assert (answer.status, answer.body) == (200, content)
    assert (head.status, head.body) == (200, b"")
    for one in (answer, head):
        del one.headers["date"]
    assert answer.headers == head.headers
    assert answer.headers == {
        "accept-ranges": "bytes",
        "connection": "close",
        "content-disposition": "attachment; filename*=UTF-8''a.warc.gz",
        "content-length": str(len(content)),
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "content-type": "application/warc",
        "etag": answer.headers["etag"],
        "server": "pinakes",
        "x-content-type-options": "nosniff",
    }


@pytest.mark.parametrize("text", ["bytes=0-0", "bytes=10-99", "bytes=100-", "bytes=-7"])
def test_a_range(ask: Ask, content: bytes, text: str) -> None:
    first, _, last = text.removeprefix("bytes=").partition("-")
    size = len(content)
    start, end = (int(first), int(last or size - 1) + 1) if first else (size - int(last), size)
    answer = ask(NAME, Range=text)
    assert (answer.status, answer.body) == (206, content[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize(
    "text", ["bytes=99999-", "bytes=5-2", "bytes=-0", "bytes=x", "bytes=0-9,5-15", "bytes=0-" * 99]
)
def test_a_range_that_lies(ask: Ask, content: bytes, text: str) -> None:
    answer = ask(NAME, Range=text)
    assert answer.status == 416
    assert answer.headers["content-range"] == f"bytes */{len(content)}"


def test_ranges_that_are_left_alone(ask: Ask, content: bytes) -> None:
    for text in ("lines=0-1", "bytes=0-1,5-6"):
        assert ask(NAME, Range=text).body == content
    head = ask(NAME, "HEAD", Range="bytes=0-1")
    assert (head.status, head.headers["content-length"]) == (200, str(len(content)))


def test_conditions(ask: Ask, content: bytes) -> None:
    etag = ask(NAME, "HEAD").headers["etag"]
    assert re.fullmatch('"[0-9a-f]{32}-[0-9a-f]+"', etag)
    unchanged = ask(NAME, If_None_Match=f'"x", W/{etag}')
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", etag)
    assert ask(NAME, If_None_Match='"x"').status == 200
    assert ask(NAME, Range="bytes=0-1", If_Range=etag).body == content[:2]
    for other in ('"x"', f"W/{etag}", "Wed, 25 Nov 2026 00:00:00 GMT"):
        assert ask(NAME, Range="bytes=0-1", If_Range=other).body == content


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_nothing_is_written(ask: Ask, method: str) -> None:
    answer = ask(NAME, method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "name",
    [
        "none/a.warc.gz",
        "a-crawl/none",
        "a-crawl",
        "a-crawl/",
        "/a-crawl/a.warc.gz",
        "a-crawl//a.warc.gz",
        "a-crawl/./a.warc.gz",
        "a-crawl/../a-crawl/a.warc.gz",
        "..%2f..%2frows.sqlite",
        "%2e%2e/rows.sqlite",
        "../rows.sqlite",
        "..%5crows.sqlite",
        "%252e%252e/rows.sqlite",
        "a-crawl/a.warc.gz%00",
        "a-crawl%00/a.warc.gz",
        "a-crawl/a.warc.gz%0d%0aX-Injected:%20yes",
        "a-crawl/a.warc.gz.sidecar.parquet",
        ".landing/x",
        "a-crawl/g2/a.warc.gz",
        "a-crawl/g1/a.warc.gz",
        "a-crawl/g0/a.warc.gz",
        "a-crawl/g01/a.warc.gz",
        "a-crawl/g99999999999999999999999/a.warc.gz",
        "a-crawl/%ff%fe",
        "%ff",
        "%",
        "%zz",
        "http:%2f%2fexample.org/a.warc.gz",
        "x" * 20_000,
        "a-crawl/" + "x/" * 8_000,
        "a-crawl/" + "%ff" * 5_000,
    ],
    ids=lambda name: name[:40],
)
def test_names_are_looked_up_not_joined(ask: Ask, name: str) -> None:
    answer = ask(name)
    assert answer.status == 404
    assert "x-injected" not in answer.headers
    assert answer.body.count(b"\n") == 1


def test_odd_names_are_found(store: LandedStore) -> None:
    names = [
        "sp ace.warc.gz",
        "per%cent.warc.gz",
        "ü/é.warc.gz",
        "que?ry#.warc.gz",
        "\udcff.warc.gz",
    ]
    for name in names:
        store.land("a-crawl", name, page(f"http://{names.index(name)}.example/"))
    with asking(store.rows, store.archive) as ask:
        for name in names:
            path = quote(f"a-crawl/{name}".encode("utf-8", "surrogateescape"))
            answer = ask(path, Range="bytes=0-1")
            assert (answer.status, answer.body) == (206, b"\x1f\x8b")
            base = quote(name.rpartition("/")[2].encode("utf-8", "surrogateescape"), safe="")
            assert answer.headers["content-disposition"].endswith(f"''{base}")


def test_files_in_flight_are_not_found(store: LandedStore) -> None:
    seen = []

    with asking(store.rows, store.archive) as ask:

        def look(step: str) -> None:
            seen.append(ask("a-crawl/late.warc.gz").status)

        store.land("a-crawl", "late.warc.gz", page("http://late.example/"), at=look)
        assert set(seen) <= {404, 200}
        assert seen[0] == 404
        assert ask("a-crawl/late.warc.gz").status == 200


# --- generations


def places(scene: Scene, generation: int) -> dict[bytes, tuple[str, Location]]:
    """Of each capture, the file of that generation, and the place in it."""
    captures = [c for row in scene.rows.scan("captures") if (c := decode_capture(row))]
    return {
        c.key: (generation_file(c.facts.archive_file, generation), c.locations[generation])
        for c in captures
        if generation in c.locations
    }


def record_in(body: bytes) -> Record:
    from pinakes.warc.source import Source

    [record] = iter_records(Source(BytesIO(body), name="a range"))
    assert isinstance(record, Record)
    return record


def test_learnt_offset_gives_its_record_until_its_generation_is_dropped(landed: Scene) -> None:
    learnt = places(landed, 1)
    with asking(landed.rows, landed.archive) as ask:

        def record_at(name: str, place: Location) -> Answer:
            return ask(name, Range=f"bytes={place.offset}-{place.offset + place.length - 1}")

        before = {key: record_at(*place).body for key, place in learnt.items()}
        landed.dedupe()
        rewritten = places(landed, 2)
        assert rewritten
        assert {key: record_at(*place).body for key, place in learnt.items()} == before
        for key, place in rewritten.items():
            answer = record_at(*place)
            assert answer.status == 206
            old, new = record_in(before[key]), record_in(answer.body)
            assert (old.target_uri, old.date) == (new.target_uri, new.date)
        assert (
            ask("c2/part-0.warc.gz", "HEAD").headers["etag"]
            != ask("c2/g2/part-0.warc.gz", "HEAD").headers["etag"]
        )
        assert list(landed.drop(0, scan_entries(landed.rows)))
        for key, (name, place) in learnt.items():
            answer = record_at(name, place)
            if key in rewritten:
                assert answer.status == 410
                assert rewritten[key][0].encode() in answer.body
            else:
                assert answer.body == before[key]
        assert {record_at(*place).status for place in rewritten.values()} == {206}


# --- access rules


class OnlyOdd(AccessRules):
    """Gives out pages of odd numbers, and what has no URI; only of crawl c1."""

    @property
    def is_open(self) -> bool:
        return False

    def admits(self, *, urlkey: str, time: str, collection: str, crawl: str, now: str) -> bool:
        assert (collection, now, len(time)) == ("news", "20260101000000", 14)
        return crawl == "c1" and (not urlkey or int(urlkey.rpartition("/")[2]) % 2 == 1)


def test_rules_let_out_admitted_records_alone(landed: Scene) -> None:
    rows = {
        entry.archive_file: list(iter_sidecar(landed.archive, entry.archive_file))
        for entry in scan_entries(landed.rows)
    }
    with asking(landed.rows, landed.archive, OnlyOdd()) as ask:
        given = 0
        for name, records in rows.items():
            for record in records:
                end = record.offset + record.length - 1
                number = (record.target_uri or "/1").rpartition("/")[2]
                admitted = name.startswith("c1/") and int(number) % 2 == 1
                statuses = [
                    ask(name, Range=f"bytes={first}-{last}").status
                    for first, last in [
                        (record.offset, end),
                        (record.offset, record.offset),
                        (record.offset, end + 1),
                        (record.offset + 1, end),
                    ]
                ]
                assert statuses[:2] == [206 if admitted else 404] * 2
                assert statuses[2] == 404 or record is records[-1]
                assert statuses[3] == 404
                given += admitted
        assert given
        name = next(iter(rows))
        for asked in ({}, {"If_None_Match": "*"}):
            assert ask(name, **asked).status == 403
        assert ask(name, "HEAD").status == 403
        assert ask("no/such.warc.gz").status == 403
        # Nothing tells whether the file is there, nor its size.
        beyond, absent = (
            ask(asked, Range="bytes=999999999-") for asked in (name, "no/such.warc.gz")
        )
        assert (beyond.status, beyond.body) == (absent.status, absent.body) == (404, absent.body)
        assert beyond.headers.keys() == absent.headers.keys()


def test_record_within_a_record_is_not_believed(store: LandedStore) -> None:
    """A WARC file that was itself archived, plain: its records begin nowhere in the catalogue."""
    inner = page("http://inner.example/", b"secret")
    store.land("c1", "outer.warc", _plain("http://outer.example/2", inner))
    content = (store.folder / "archive" / "c1/outer.warc").read_bytes()
    start = content.index(inner)

    class All(OnlyOdd):
        def admits(self, **_: str) -> bool:
            return True

    [outer] = iter_sidecar(store.archive, "c1/outer.warc")
    with asking(store.rows, store.archive, All()) as ask:
        assert ask("c1/outer.warc", Range=f"bytes=0-{outer.length - 1}").status == 206
        inside = ask("c1/outer.warc", Range=f"bytes={start}-{start + len(inner) - 1}")
        assert inside.status == 404


def _plain(uri: str, block: bytes) -> bytes:
    from scenes import record

    fields = {
        "WARC-Target-URI": uri,
        "WARC-Date": "2020-01-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000077>",
        "Content-Type": "application/octet-stream",
    }
    return record("resource", fields, block)


# --- stores that fail, clients that stall


class LargeFile(RawIOBase):
    """The same byte everywhere; `reads` counts, `closed_event` is set when it is closed."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.reads = 0
        self.at = 0
        self.fails_at = fails_at
        self.closed_event = threading.Event()

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        assert 0 < size <= PIECE_BYTES
        self.reads += 1
        if self.fails_at is not None and self.at >= self.fails_at:
            raise StoreUnavailable("the data node is gone")
        return b"z" * size

    def close(self) -> None:
        self.closed_event.set()
        super().close()


class LargeArchive:
    """Every archive file is this one; sidecars are those of a store."""

    def __init__(self, file: LargeFile, store: LandedStore) -> None:
        self.file = file
        self.store = store

    def size(self, name: str) -> int:
        return LARGE

    def open(self, name: str) -> Any:
        return self.store.archive.open(name) if name.endswith(".parquet") else self.file


LARGE = 32 << 20
"""More than the kernel keeps for a client that does not read."""


@pytest.fixture
def large_rows(store: LandedStore) -> Any:
    """The rows of a store with one file of this size."""
    body = random.Random(1).randbytes(LARGE)
    store.land("a-crawl", "a.warc.gz", page("http://large.example/", body))
    return store.rows


@pytest.mark.parametrize(("fails_at", "status"), [(0, 503), (4 * PIECE_BYTES, 206)])
def test_store_that_fails(store: LandedStore, large_rows: Any, fails_at: int, status: int) -> None:
    """Before the answer: 503.  Within it: the answer is cut off, and the file closed."""
    file = LargeFile(fails_at)
    with asking(large_rows, LargeArchive(file, store)) as ask:
        answer = ask(NAME, Range=f"bytes=0-{LARGE - 1}")
    assert answer.status == status
    assert file.closed_event.is_set()
    if status == 206:
        assert answer.body == b"z" * fails_at
    else:
        assert "retry-after" in answer.headers


@pytest.mark.parametrize("stalls", [False, True], ids=["leaves", "reads-nothing"])
def test_client_that_goes_or_stalls_is_let_go(
    store: LandedStore, large_rows: Any, stalls: bool
) -> None:
    file = LargeFile()
    bounds = Bounds(stalled_s=0.5)
    with asking(large_rows, LargeArchive(file, store), bounds=bounds) as ask:
        with connected(ask.address) as client:  # type: ignore[attr-defined]
            client.sendall(f"GET /warc/{NAME} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
            if stalls:
                assert file.closed_event.wait(60)
        assert file.closed_event.wait(60)
    assert file.reads < LARGE // PIECE_BYTES


def test_many_streams_are_told_to_come_again(
    store: LandedStore, large_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinakes.access.warc_server.STREAMS", 0)
    with asking(large_rows, LargeArchive(LargeFile(), store)) as ask:
        assert ask(NAME, Range=f"bytes=1-{PIECE_BYTES}").status == 206
        assert ask(NAME, "HEAD").status == 200
        refused = ask(NAME, Range=f"bytes=1-{PIECE_BYTES + 1}")
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")


def test_file_that_is_missing_is_the_store_s_fault(store: LandedStore, content: bytes) -> None:
    (store.folder / "archive" / NAME).unlink()
    with asking(store.rows, store.archive) as ask:
        answer = ask(NAME)
    assert (answer.status, answer.body) == (
        500,
        b"500 Internal Server Error: a-crawl/a.warc.gz: it is not in the archive store: run fsck\n",
    )


def test_line_ends_behind_an_open_record_may_be_asked_for_with_it(store: LandedStore) -> None:
    records = [gzip.decompress(page(f"http://{name}.example/")) for name in "abc"]
    store.land("one", "a.warc", *records)
    rules = parse_rules([{"block": "http://b.example/"}])
    ends = list(accumulate(map(len, records)))
    with asking(store.rows, store.archive, rules) as ask:
        for first, last, status in [
            (0, ends[0] - 5, 206),
            (0, ends[0] - 1, 206),
            (0, ends[0], 404),
            (ends[0], ends[1] - 1, 404),
            (ends[0] - 2, ends[0] - 1, 404),
            (ends[1], ends[2] - 1, 206),
        ]:
            assert ask("one/a.warc", Range=f"bytes={first}-{last}").status == status, (first, last)

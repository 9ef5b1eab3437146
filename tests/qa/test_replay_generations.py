"""Before and behind a deduplication, at once."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import get_args

import pytest
from browsing import Client
from cluster_stores import store_on
from ingest_processes import call
from scenes import make_scene, record, response, write_crawl
from shared_cluster import RunningCluster

from pinakes.config import Configuration
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.hbase_schema.capture_keys import captures_of
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.index.urlkey import urlkey
from pinakes.profile import open_stores
from pinakes.qa.replay.generations import Generation, generation_before
from pinakes.qa.replay.page_log import LoggedExchange, PageLog
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

PAGES = 12
MOMENT = datetime(2022, 1, 1, tzinfo=timezone.utc)
pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")


class Twice:
    """The second crawl, which repeats much of the first, asked for from both generations."""

    def __init__(self, folder: Path, rows: RowStore, proxy: ReplayProxy) -> None:
        self.archive = folder / "store" / "archive"
        self.rows = rows
        self._proxy = proxy

    def pages(self, generation: Generation) -> list[LoggedExchange]:
        """What the log has of every page of the site."""
        session = self._proxy.open_session(generation)
        session.begin_page(generation, MOMENT)
        client = Client(session.port, self._proxy.ca_file)
        for number in range(PAGES):
            client.ask(f"http://example.org/{number}")
        return list(session.end_page(timeout_s=60).exchanges)


@pytest.fixture
def twice(tmp_path: Path) -> Iterator[Twice]:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        with ReplayProxy(scene.rows, scene.archive) as proxy:
            yield Twice(tmp_path, scene.rows, proxy)


def revisits(path: Path) -> list[Record]:
    with open_source(path) as source:
        return [r for r in iter_records(source) if isinstance(r, Record) and r.type == "revisit"]


def test_both_generations_give_the_same_bytes(twice: Twice) -> None:
    before, behind = twice.pages("before"), twice.pages("current")
    assert [e.outcome for e in before] == ["hit"] * PAGES
    assert before == behind
    assert len({e.payload_digest for e in before}) == PAGES
    assert sum(len(revisits(path)) for path in (twice.archive / "c2" / "g2").glob("*.gz")) == 8


def test_each_reads_its_own_files(twice: Twice) -> None:
    """Without the old files only `before` fails, and says which file is not there."""
    for path in (twice.archive / "c2").glob("*.gz"):
        path.unlink()
    assert {e.outcome for e in twice.pages("current")} == {"hit"}
    lost = twice.pages("before")
    assert {e.outcome for e in lost} == {"fault"}
    assert all("c2/part-" in (e.problem or "") for e in lost)


ELSEWHERE = "it does not refer to the original that it was written with"


def test_a_revisit_pointed_at_another_body_is_seen(twice: Twice) -> None:
    """Its row has what it was written with: the other body is not sent."""
    changed_uri = point_elsewhere(twice.archive / "c2" / "g2" / "part-0.warc.gz", digest=True)
    faults = [e for e in twice.pages("current") if e.outcome != "hit"]
    assert [(e.url, e.outcome) for e in faults] == [(changed_uri, "fault")]
    assert ELSEWHERE in (faults[0].problem or "")


def test_a_revisit_that_contradicts_itself_is_a_fault(twice: Twice) -> None:
    changed_uri = point_elsewhere(twice.archive / "c2" / "g2" / "part-0.warc.gz", digest=False)
    faults = [e for e in twice.pages("current") if e.outcome == "fault"]
    assert [e.url for e in faults] == [changed_uri]
    assert ELSEWHERE in (faults[0].problem or "")


def test_a_row_that_points_at_another_body_is_not_believed(twice: Twice) -> None:
    """The revisit and its row agree; the body that landed was another."""
    path = twice.archive / "c2" / "g2" / "part-0.warc.gz"
    first, last = (str(one.target_uri) for one in (revisits(path)[0], revisits(path)[-1]))
    changed_uri = point_elsewhere(path, digest=True)
    marks, keys = [], []
    for uri in (first, last):
        [row] = twice.rows.scan("captures", captures_of(urlkey(uri)), columns=[DedupeMark.COLUMN],
                                reverse=True, limit_rows=1)  # fmt: skip
        marks.append(read_cell(DedupeMark, "captures", row))
        keys.append(row.key)
    assert marks[0] is not None
    cell = {DedupeMark.COLUMN: encode_cell(marks[0])}
    twice.rows.mutate("captures", [Put(keys[1], cell, 1 << 50)])
    faults = [e for e in twice.pages("current") if e.outcome != "hit"]
    assert [(e.url, e.outcome) for e in faults] == [(changed_uri, "fault")]
    assert "has not the body with which it landed" in (faults[0].problem or "")


def point_elsewhere(path: Path, *, digest: bool) -> str | None:
    """Have the last revisit of a file refer to what the first one does; its URI."""
    first, last = revisits(path)[0], revisits(path)[-1]
    names = ["WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"]
    names += ["WARC-Payload-Digest"] if digest else []
    whole = gzip.decompress(path.read_bytes()[last.offset :][: last.length])
    for name in names:
        old, new = (f"{name}: {record.header.get(name)}\r\n".encode() for record in (last, first))
        assert old in whole
        whole = whole.replace(old, new)
    data = path.read_bytes()
    assert last.offset + last.length == len(data)
    path.write_bytes(data[: last.offset] + gzip.compress(whole, mtime=0))
    return last.target_uri


def test_not_modified_since_what_dedupe_made_a_revisit(tmp_path: Path) -> None:
    """A page, the same page again, then a 304 that names neither."""
    uri, body = "http://example.org/page", bytes(range(256)) * 20
    unchanged = {
        "WARC-Target-URI": uri,
        "WARC-Date": "2022-01-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000003>",
        "WARC-Profile": "http://netpreserve.org/warc/1.0/revisit/server-not-modified",
        "Content-Type": "application/http;msgtype=response",
    }
    records = [
        response(uri, "2020-01-01T00:00:00Z", body, 1),
        response(uri, "2021-01-01T00:00:00Z", body, 2),
        record("revisit", unchanged, b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    ]
    with make_scene(tmp_path, crawls=()) as scene:
        for number, written in enumerate(records):
            (scene.crawls / f"c{number}").mkdir(parents=True)
            path = scene.crawls / f"c{number}" / "a.warc.gz"
            path.write_bytes(gzip.compress(written, mtime=0))
            scene.land(number)
        assert scene.dedupe().decisions["process"]["revisits"] == 1
        with ReplayProxy(scene.rows, scene.archive) as proxy:
            logs = []
            for generation in get_args(Generation):
                session = proxy.open_session(generation)
                session.begin_page("p", MOMENT)
                assert Client(session.port, proxy.ca_file).ask(uri).body == body
                logs.append(session.end_page(timeout_s=60))
        assert logs[0].payloads == logs[1].payloads
        assert logs[0].heads == logs[1].heads


def facts(why: str) -> GenerationFacts:
    return GenerationFacts(file="f", size=1, sha256="", why=why, act="a")


@pytest.mark.parametrize(
    ("written", "current", "before"),
    [
        (["landed"], 1, 1),
        (["landed", "dedupe"], 2, 1),
        (["landed", "dedupe", "dedupe"], 3, 1),
        (["landed", "convert", "dedupe"], 3, 2),
        (["landed", "dedupe", "restore"], 3, 3),
        (["landed", "dedupe", "restore", "dedupe"], 4, 3),
        (["landed", "dedupe", "zstd"], 3, 1),
        (["landed", "dedupe", "zstd", "zstd"], 4, 1),
        (["landed", "zstd"], 2, 2),
        (["landed", "zstd", "dedupe"], 3, 2),
        (["landed", "dedupe", "restore", "zstd"], 4, 4),
        (["landed", "dedupe"], 1, 1),
        (["dedupe"], 1, 1),
        ([], 1, 1),
    ],
)
def test_which_generation_is_before(written: list[str], current: int, before: int) -> None:
    numbered = {number: facts(why) for number, why in enumerate(written, 1)}
    assert generation_before(current, numbered) == before


# --- The proxy over real HBase and HDFS: hits, misses, and both generations of a crawl


@pytest.fixture
def configuration(cluster: RunningCluster, tmp_path: Path) -> Iterator[Configuration]:
    """A store of its own on the cluster, with two crawls of one site, deduplicated."""
    with store_on(cluster, tmp_path) as made:
        calls = []
        for crawl in ("c1", "c2"):
            write_crawl(tmp_path / crawl, int(crawl[1]), pages=PAGES)
            calls.append(["ingest", str(tmp_path / crawl), "--crawl", crawl])
        for words in (*calls, ["dedupe", "--all", "--min-file-saving", "0"]):
            done = call(tmp_path, *words)
            assert done.returncode == 0, done.stderr
        yield made


def seen(proxy: ReplayProxy, generation: Generation) -> PageLog:
    session = proxy.open_session(generation)
    session.begin_page(generation, MOMENT)
    client = Client(session.port, proxy.ca_file, timeout_s=300)
    for number in range(PAGES):
        client.ask(f"https://www.example.org/{number}?utm_source=x")
    client.ask("http://example.org/none")
    return session.end_page(timeout_s=300)


def test_a_crawl_on_hbase_and_hdfs(configuration: Configuration) -> None:
    with open_stores(configuration) as stores, ReplayProxy(stores.rows, stores.archive) as proxy:
        before, behind = seen(proxy, "before"), seen(proxy, "current")
        assert before.exchanges == behind.exchanges
        assert [e.outcome for e in before.exchanges] == ["hit"] * PAGES + ["miss"]
        assert {e.rule for e in before.exchanges[:-1]} == {"campaign"}
        names = {stored.name for stored in stores.archive.list()}
        assert {"c2/g2/part-0.warc.gz", "c2/g2/part-1.warc.gz"} <= names

"""A landing whose copy is lost while it is written begins anew."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from landed_stores import LandedStore, page

from pinakes.archive_store.port import ASIDE, WritingLost
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import read_entry, scan_inflight
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.ingest.attempts import Attempt, Landings
from pinakes.ingest.copying import Writer
from pinakes.ingest.inputs import Input
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander

RECORDS = [page(f"http://example.org/{number}", b"%d" % number) for number in range(9)]


class Losing:
    """A writer for landings that loses what it is given, so many times."""

    def __init__(self, times: int, *, retry_s: float) -> None:
        self.left = times
        self._retry_s = retry_s

    @contextmanager
    def __call__(self, file: BinaryIO) -> Iterator[Writer]:
        if not self.left:
            yield file
            return
        self.left -= 1
        yield LosingFile(file, self._retry_s)


class LosingFile(io.RawIOBase):
    def __init__(self, file: BinaryIO, retry_s: float) -> None:
        self._file = file
        self._retry_s = retry_s

    def write(self, data: Any, /) -> int:
        self._file.write(data[:100])
        error = WritingLost("a data node went")
        error.retry_s = self._retry_s
        raise error


def landings(store: LandedStore, losing: Losing, **more: Any) -> Landings:
    actor = store.actor
    facts = CrawlFacts(collection="default")
    ensure_crawl(store.rows, "c", facts, act="ingest-1", act_time_ms=actor.now_ms())
    lander = Lander(store.rows, store.archive, actor, writers=losing)
    return Landings(lander, "c", "default", **more)


def test_it_lands_as_if_nothing_had_been(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "s")
    path = store.write("a.warc.gz", *RECORDS)
    retries: list[None] = []
    attempts = landings(store, Losing(2, retry_s=600.0), on_retry=lambda: retries.append(None))
    outcome = attempts.attempt(Attempt(Input(str(path), "a.warc.gz")))
    assert isinstance(outcome, Landed)
    assert (outcome.captures, len(retries)) == (9, 2)
    assert len(list(store.rows.scan("captures"))) == 9
    assert scan_inflight(store.rows) == set()
    assert read_entry(store.rows, "c/a.warc.gz").state == "stored"
    with store.archive.open("c/a.warc.gz") as file:
        assert file.read() == path.read_bytes()
    assert list(store.archive.list(ASIDE)) == []


def test_when_retries_end_it_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "s")
    path = store.write("a.warc.gz", *RECORDS)
    losing = Losing(2, retry_s=0.0)
    with pytest.raises(WritingLost, match=r"/a\.warc\.gz: a data node went"):
        landings(store, losing).attempt(Attempt(Input(str(path), "a.warc.gz")))
    assert losing.left == 1
    assert scan_inflight(store.rows) == {"c/a.warc.gz"}  # and nobody sees it
    assert store.archive.size("c/a.warc.gz") is None

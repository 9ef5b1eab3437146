"""Rows that come later: a file is published, waits in flight, and is finished or withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fsck_here import look
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import QUARANTINE
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import Held, read_entry, scan_inflight
from pinakes.errors import Conflict, InputRefused
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.index.urlkey import urlkey
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander, Published
from pinakes.row_store.port import Put

WITHDRAW = "withdraw it, and keep what it wrote in the quarantine: land the file again"
URI = "http://example.org/"
RECORDS = [page(f"{URI}{number}", b"%d" % number) for number in range(7)]


class KeptRows:
    """Keeps what is put, in batches of three captures, for whoever loads it."""

    batch_rows = 3

    def __init__(self) -> None:
        self.kept: list[tuple[str, list[Put]]] = []
        self.finished = False

    def put(self, table: str, puts: list[Put]) -> None:
        self.kept.append((table, puts))

    def finish(self) -> bool:
        self.finished = True
        return False


class Bulk:
    """A lander whose rows are kept, and loaded when asked."""

    def __init__(self, store: LandedStore, actor: Actor) -> None:
        self._store = store
        self.sinks: list[KeptRows] = []
        self.lander = Lander(store.rows, store.archive, actor, sinks=self._sink)

    @contextmanager
    def _sink(self, held: Held) -> Iterator[KeptRows]:
        self.sinks.append(KeptRows())
        yield self.sinks[-1]

    def publish(self, name: str, *records: bytes) -> Published | Landed:
        path = self._store.write(f"c/{name}", *records)
        facts = CrawlFacts(collection="default")
        ensure_crawl(self._store.rows, "c", facts, act="a", act_time_ms=1)
        return self.lander.publish(str(path), f"c/{name}", "default")

    def load(self) -> None:
        for sink in self.sinks:
            for table, puts in sink.kept:
                self._store.rows.mutate(table, puts)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "plain")
    yield made
    made.close()


def seen(store: LandedStore) -> int:
    return sum(
        len(list(scan_captures_of(store.rows, urlkey(f"{URI}{number}"))))
        for number in range(len(RECORDS))
    )


def published(found: Published | Landed) -> Published:
    assert isinstance(found, Published)
    return found


def begin_to_land(store: LandedStore, name: str) -> None:
    """A landing into the store that dies before its first row."""

    def land() -> None:
        lander = Lander(store.rows, store.archive, Actor(), at=kill_at(1))
        lander.land(str(store.inbox / "c" / name), f"c/{name}", "default")

    assert in_child(land) == KILLED


def test_several_files_wait_and_are_finished(store: LandedStore, plain: LandedStore) -> None:
    bulk = Bulk(store, store.actor)
    names = ["a.warc.gz", "b.warc.gz"]
    waiting = [published(bulk.publish(name, *RECORDS)) for name in names]
    assert scan_inflight(store.rows) == {f"c/{name}" for name in names}
    assert [len(puts) for table, puts in bulk.sinks[0].kept if table == "captures"] == [3, 3, 1]
    assert store.dump()["captures"] == {}
    bulk.load()
    assert seen(store) == 0
    waiting = [bulk.lander.renew(one) for one in waiting]
    landed = [bulk.lander.finish(one) for one in waiting]
    assert seen(store) == 2 * len(RECORDS)
    assert landed == [plain.land("c", name, *RECORDS) for name in names]
    assert store.dump() == plain.dump()
    assert look(store, full=True) == []


def test_a_waiting_file_whose_lander_died_is_withdrawn_not_shown(store: LandedStore) -> None:
    """fsck must not take it for landed: its rows are not there."""
    assert in_child(lambda: Bulk(store, Actor()).publish("a.warc.gz", *RECORDS)) == 0
    [finding] = look(store, repair=True)
    assert (finding.code, finding.repair) == ("dead-landing", WITHDRAW)
    assert store.dump() == {"captures": {}, "digests": {}, "inflight": {}}
    # What it had written is kept aside: a crawler may have deleted its own.
    assert all(name.startswith(f"{QUARANTINE}/") for name in store.names())
    store.land("c", "a.warc.gz", *RECORDS)
    assert seen(store) == len(RECORDS)
    assert look(store, full=True) == []


def test_facts_of_a_landing_before_do_not_show_it(store: LandedStore) -> None:
    """A landing that was refused behind its facts, and one of the same bytes that then waits."""
    stranger = store.folder / "archive" / "c" / "a.warc.gz"
    stranger.parent.mkdir()
    stranger.write_bytes(b"other bytes")
    with pytest.raises(InputRefused, match="not in the catalogue"):
        store.land("c", "a.warc.gz", *RECORDS)
    stranger.unlink()
    begin_to_land(store, "a.warc.gz")
    entry = read_entry(store.rows, "c/a.warc.gz")
    assert entry.facts is not None  # of the first
    assert entry.state == "landing"
    [finding, *_] = look(store)
    assert finding.repair == WITHDRAW


def test_gone_on_with_by_another_way(store: LandedStore) -> None:
    """A landing into the store that died again leaves a file whose rows may lack."""
    assert in_child(lambda: Bulk(store, Actor()).publish("a.warc.gz", *RECORDS)) == 0
    begin_to_land(store, "a.warc.gz")
    assert store.dump()["captures"] == {}
    [finding] = look(store)
    assert finding.repair == WITHDRAW
    store.land("c", "a.warc.gz", *RECORDS)
    assert seen(store) == len(RECORDS)
    assert look(store, full=True) == []


def test_a_claim_that_was_taken_over_is_not_finished(store: LandedStore) -> None:
    bulk = Bulk(store, store.actor)
    waiting = published(bulk.publish("a.warc.gz", *RECORDS))
    store.land("c", "a.warc.gz", *RECORDS)  # the same worker, who may
    for act in (bulk.lander.renew, bulk.lander.finish):
        with pytest.raises(Conflict, match="taken over it"):
            act(waiting)
    assert seen(store) == len(RECORDS)


def test_what_is_refused_was_never_finished(store: LandedStore) -> None:
    bulk = Bulk(store, store.actor)
    stranger = store.folder / "archive" / "c" / "a.warc.gz"
    stranger.parent.mkdir()
    stranger.write_bytes(b"other bytes")
    with pytest.raises(InputRefused, match="not in the catalogue"):
        bulk.publish("a.warc.gz", *RECORDS)
    assert bulk.publish("b.warc.gz", *RECORDS)
    assert read_entry(store.rows, "c/a.warc.gz").state == "refused"

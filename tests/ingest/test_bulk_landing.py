"""Landing in bulk on the embedded store, where files of rows are loaded by puts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import pytest
from fsck_here import codes
from killing import deaths
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor
from pinakes.catalog.claims import Claimant
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import LEASE_MS, read_entry, scan_inflight, take_claim
from pinakes.errors import Conflict, InputRefused, PinakesError, StoreUnavailable
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.ingest.bulk_landing import BulkLanding
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.ingest.row_spool import RowSpool
from pinakes.row_store.bulk_text import BulkTable, load_by_puts

URI = "http://example.org/"
FILES = {
    f"{name}.warc.gz": [page(f"{URI}{name}{n}", b"%d" % n) for n in range(5)] for name in "abcd"
}
# No capture in it, so no rows: there is nothing to wait for.
FILES["none.warc.gz"] = [page(URI, record_type="metadata")]


class ActorAt(Actor):
    """One whose clock stands still, so that two stores can be compared to the last cell."""

    def now_ms(self) -> int:
        return 1_700_000_000_000


class Batch:
    """A bulk landing into a store, and what it told."""

    def __init__(
        self,
        store: LandedStore,
        *,
        actor: Actor | None = None,
        batch_files: int = 3,
        batch_bytes: int = 1 << 30,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        self.store = store
        self.actor = actor or Actor()
        self.landed: list[Landed] = []
        self.missed: list[PinakesError] = []
        self.loads: list[int] = []
        self.folder = store.folder / f"spool-{token_hex(8)}"
        self.folder.mkdir()
        spool = RowSpool(self.folder)
        self.lander = Lander(store.rows, store.archive, self.actor, sinks=spool.sink, at=at)
        self.bulk = BulkLanding(
            self.lander,
            self.actor,
            spool,
            self.load,
            done=self.landed.append,
            missed=self.missed.append,
            batch_files=batch_files,
            batch_bytes=batch_bytes,
            at=at,
        )

    def load(
        self, parts: Mapping[BulkTable, Sequence[Path]], meanwhile: Callable[[], None]
    ) -> None:
        self.loads.append(len(scan_inflight(self.store.rows)))
        load_by_puts(self.store.rows, parts, meanwhile)

    def land(self, names: Sequence[str] = tuple(FILES)) -> Batch:
        act = self.actor.new_act("ingest")
        facts = CrawlFacts(collection="default")
        ensure_crawl(self.store.rows, "c", facts, act=act, act_time_ms=self.actor.now_ms())
        for name in names:
            path = self.store.write(f"c/{name}", *FILES[name])
            self.bulk.land(str(path), f"c/{name}", "default")
        self.bulk.flush()
        return self


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[str], LandedStore]]:
    """Stores by name, closed at the end."""
    made: list[LandedStore] = []

    def opened(name: str) -> LandedStore:
        made.append(LandedStore(tmp_path / name))
        return made[-1]

    yield opened
    for store in made:
        store.close()


@pytest.fixture
def store(open_store: Callable[[str], LandedStore]) -> LandedStore:
    return open_store("store")


@pytest.fixture
def plain(open_store: Callable[[str], LandedStore]) -> LandedStore:
    """The same files, landed as ever."""
    made = open_store("plain")
    made.actor = ActorAt()
    for name, records in FILES.items():
        made.land("c", name, *records)
    return made


def cells(store: LandedStore) -> dict[str, list[object]]:
    """Every cell of captures and digests, with its time."""
    return {
        table: [(row.key, dict(row.cells)) for row in store.rows.scan(table)]
        for table in ("captures", "digests")
    }


def test_in_bulk_and_by_puts_the_cells_are_the_same(store: LandedStore, plain: LandedStore) -> None:
    batch = Batch(store, actor=ActorAt()).land()
    assert batch.loads == [3, 1]
    assert cells(store) == cells(plain)
    assert len(cells(store)["captures"]) == 20
    assert sorted(one.archive_file for one in batch.landed) == sorted(f"c/{name}" for name in FILES)
    assert batch.missed == []
    assert scan_inflight(store.rows) == set()
    assert codes(store) == []
    assert list(batch.folder.iterdir()) == []


def test_a_batch_is_bounded_in_bytes(store: LandedStore) -> None:
    assert Batch(store, batch_bytes=1).land().loads == [1, 1, 1, 1]


def test_nothing_to_load_is_no_load(store: LandedStore) -> None:
    batch = Batch(store).land(["none.warc.gz"])
    assert batch.loads == []
    assert [one.archive_file for one in batch.landed] == ["c/none.warc.gz"]
    again = Batch(store).land(["none.warc.gz"])
    assert [one.was_there for one in again.landed] == [True]


def test_of_two_files_of_one_name_the_first_lands(store: LandedStore) -> None:
    batch = Batch(store).land(["a.warc.gz"])
    waiting = Batch(store)
    path = store.write("c/b.warc.gz", *FILES["b.warc.gz"])
    waiting.bulk.land(str(path), "c/b.warc.gz", "default")
    other = store.write("other/b.warc.gz", *FILES["c.warc.gz"])
    with pytest.raises(InputRefused, match="other bytes"):
        waiting.bulk.land(str(other), "c/b.warc.gz", "default")
    waiting.bulk.land(str(path), "c/b.warc.gz", "default")
    assert [one.was_there for one in waiting.landed] == [False, True]
    assert batch.missed == waiting.missed == []
    assert waiting.loads == [1]


def test_a_refused_file_leaves_no_rows_behind(store: LandedStore) -> None:
    batch = Batch(store)
    path = store.write("c/a.warc.gz", *FILES["a.warc.gz"])

    def grow(step: str) -> None:
        if step == "rows":
            with path.open("ab") as file:
                file.write(b"more")

    batch.lander._at = grow
    facts = CrawlFacts(collection="default")
    ensure_crawl(store.rows, "c", facts, act="a", act_time_ms=1)
    with pytest.raises(InputRefused):
        batch.bulk.land(str(path), "c/a.warc.gz", "default")
    assert list(batch.folder.iterdir()) == []
    batch.bulk.flush()
    assert batch.loads == []


def test_a_failed_load_is_done_by_the_next_ingest(store: LandedStore, plain: LandedStore) -> None:
    batch = Batch(store, actor=ActorAt())

    def fail(*_: object) -> None:
        raise StoreUnavailable("YARN is away")

    batch.bulk._load = fail
    with pytest.raises(StoreUnavailable):
        batch.land()
    assert scan_inflight(store.rows) == {"c/a.warc.gz", "c/b.warc.gz", "c/c.warc.gz"}
    assert cells(store)["captures"] == []
    # Others are told that somebody is at work on them; the worker itself takes them up again.
    with pytest.raises(Conflict, match="working on it"):
        Batch(store, actor=ActorAt()).land()
    again = Batch(store, actor=ActorAt(owner=batch.actor.owner)).land()
    assert len(again.landed) == len(FILES)
    assert cells(store) == cells(plain)
    assert codes(store) == []


def test_a_file_that_somebody_took_over_is_not_finished(store: LandedStore) -> None:
    batch = Batch(store, actor=ActorAt())
    batch.bulk._load = lambda *_: take_over(store)
    batch.land(["a.warc.gz", "b.warc.gz"])
    assert [one.archive_file for one in batch.landed] == ["c/a.warc.gz"]
    assert [one.file for one in batch.missed] == ["c/b.warc.gz"]
    assert isinstance(batch.missed[0], Conflict)
    assert read_entry(store.rows, "c/b.warc.gz").state == "loading"


def take_over(store: LandedStore) -> None:
    """As somebody does who comes when the claim has run out."""
    take_claim(
        store.rows,
        "c/b.warc.gz",
        Claimant("another", "another", ActorAt().now_ms() + LEASE_MS + 1, lambda _: False),
        act="ingest-x",
    )


@pytest.mark.slow
@pytest.mark.parametrize("bulk_again", [True, False], ids=["bulk", "puts"])
def test_killed_at_every_step_and_run_again(
    open_store: Callable[[str], LandedStore],
    plain: LandedStore,
    tmp_path: Path,
    bulk_again: bool,
) -> None:
    names = ["a.warc.gz", "b.warc.gz"]

    def work(folder: Path, at: Callable[[str], None]) -> None:
        Batch(open_store(folder.name), actor=ActorAt(), batch_files=2, at=at).land(names)

    for step, folder, _ in deaths(tmp_path / "killed", work, more_than=15):
        store = open_store(folder.name)
        if bulk_again:
            assert Batch(store, actor=ActorAt(), batch_files=2).land(names).missed == []
        else:
            store.actor = ActorAt()
            for each in names:
                store.land("c", each, *FILES[each])
        found, expected = cells(store), cells(plain)
        for table, rows in expected.items():
            wanted = [row for row in rows if re.search(r"/[ab]\.warc", repr(row))]
            assert found[table] == wanted, (step, table)
        assert scan_inflight(store.rows) == set()
        assert {read_entry(store.rows, f"c/{each}").state for each in names} == {"stored"}
        # A copy that nobody goes on with is fsck's to delete, in bulk as ever.
        assert set(codes(store)) <= {"aside"}, step

"""A crawl is taken out whole or not at all, whatever happens on the way."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crawl_states import set_crawl_state
from fsck_here import look
from killing import KILLED, deaths, in_child, kill_at
from landed_stores import LandedStore, page, revisit

from pinakes.acts.actor import Actor, read_lease, take_lease
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.crawl_rows import CANCELLED, PURGED, REMOVED, read_crawl
from pinakes.catalog.crawl_stats import count_crawl
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.lookup import FoundCaptures, answer_all
from pinakes.catalog.sidecar import read_sidecar, sidecar_name, write_sidecar
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, REMOVE, CrawlDeletion, DeletionReport
from pinakes.errors import ConfigError, Conflict
from pinakes.hbase_schema.capture_cells import DedupeMark, ExtractedView, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl
from pinakes.row_store.port import Put

URI = "http://example.org/"
DATE = "2020-01-02T03:04:05Z"
# leased, closed; hidden and leaving of two files; then of each hidden, leaving, rows, left,
# bytes and sidecar of two generations' names, gone, out of flight; lease released, lists, removed.
STEPS = 38


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a closed store, to be copied."""
    made = LandedStore(tmp_path_factory.mktemp("filled") / "store")
    made.land("other", "o.warc.gz", page("http://other.example/"))
    made.land("one", "a.warc.gz", page(URI), page("http://example.org/b", b"b"))
    made.land("one", "deep/a.warc.gz", page("http://example.org/c", b"c"))
    commit_crawl(made.rows, made.archive, "one", made.actor)
    made.close()
    return made.folder


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(shutil.copytree(filled, tmp_path / "store"))
    yield made
    made.close()


def remove(store: LandedStore, crawl: str = "one") -> DeletionReport:
    return Remover(store.rows, store.archive, Actor()).take_out(crawl, REMOVE)


def state_of(store: LandedStore) -> dict[str, object]:
    """What is there, without what may differ from one run to the other."""
    entry = read_crawl(store.rows, "one")
    assert entry is not None
    lease = read_lease(store.rows, "default")
    files = {}
    for name in ("one/a.warc.gz", "one/deep/a.warc.gz"):
        found = read_entry(store.rows, name)
        claim = found.claim
        files[name] = (found.state, claim is not None and claim.expires_ms != 0)
    return {
        "rows": store.dump(),
        "names": store.names(),
        "crawl": (entry.state, dict(read_totals(store.rows, "one").counts)),
        "files": files,
        "lease": lease is not None and lease.expires_ms != 0,
    }


def test_a_removed_crawl_leaves_nothing_of_itself(store: LandedStore, tmp_path: Path) -> None:
    alone = LandedStore(tmp_path / "alone")
    alone.land("other", "o.warc.gz", page("http://other.example/"))
    assert len(store.dump()["captures"]) == 4
    result = remove(store)
    assert result.is_complete
    assert (result.files, result.captures) == (2, 3)
    assert store.dump() == alone.dump()
    assert store.names() == alone.names()
    assert state_of(store)["lease"] is False
    entry = read_crawl(store.rows, "one")
    assert entry is not None
    assert entry.state == "removed"
    totals = read_totals(store.rows, "one")
    assert (totals.counts["files"], totals.holdings.files) == (2, 0)
    assert remove(store).files == 0
    alone.close()


@pytest.fixture(scope="module")
def removed(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The state of a store out of which the crawl was taken undisturbed."""
    whole = LandedStore(shutil.copytree(filled, tmp_path_factory.mktemp("removed") / "store"))
    remove(whole)
    state = state_of(whole)
    whole.close()
    return state


@pytest.mark.slow
def test_killed_at_a_step_and_run_again(
    filled: Path, removed: dict[str, object], tmp_path: Path
) -> None:
    def work(folder: Path, at: Callable[[str], None]) -> None:
        store = LandedStore(folder)
        Remover(store.rows, store.archive, Actor(), at=at).take_out("one", REMOVE)

    for step, folder, _ in deaths(tmp_path, work, made=filled, more_than=STEPS - 1):
        store = LandedStore(folder)
        assert remove(store).is_complete
        assert state_of(store) == removed, step
        store.close()
    assert step == STEPS


def test_nothing_of_a_file_is_seen_once_it_leaves(store: LandedStore) -> None:
    seen: list[int] = []

    def look(step: str) -> None:
        if step in ("rows", "left", "bytes", "sidecar", "gone"):
            seen.append(len(list(scan_captures_of(store.rows, urlkey(URI)))))

    Remover(store.rows, store.archive, Actor(), at=look).take_out("one", REMOVE)
    assert seen
    assert set(seen) == {0}


def test_what_later_acts_wrote_goes_too_and_landing_again_is_visible(store: LandedStore) -> None:
    [capture] = scan_captures_of(store.rows, urlkey(URI))
    view = {ExtractedView.COLUMN: encode_cell(ExtractedView(title="t"))}
    store.rows.mutate("captures", [Put(capture.key, view, capture.landed_ms + 1)])
    assert remove(store).is_complete
    assert list(scan_captures_of(store.rows, urlkey(URI))) == []
    landed = store.land("one", "a.warc.gz", page(URI), page("http://example.org/b", b"b"))
    assert not landed.was_there
    [again] = scan_captures_of(store.rows, urlkey(URI))
    assert again.key == capture.key
    assert again.landed_ms > capture.landed_ms
    [answer] = answer_all(store.rows, [str(again.facts.payload_sha1)])
    assert isinstance(answer, FoundCaptures)
    assert "one/a.warc.gz" in [match.placed.file for match in answer.matches]
    row = store.rows.get_rows("captures", [again.key])[again.key]
    assert row.value(ExtractedView.COLUMN) is None
    entry = read_crawl(store.rows, "one")
    assert entry is not None
    assert entry.state == "open"
    commit_crawl(store.rows, store.archive, "one", store.actor)
    assert remove(store).is_complete
    assert list(scan_captures_of(store.rows, urlkey(URI))) == []


# --- what stands in the way


def mark(store: LandedStore, run: str = "r") -> tuple[str, str]:
    """A capture of `two` made a duplicate of one of `one`, as dedupe writes it."""
    store.land("two", "t.warc.gz", page(URI, date="2021-01-01T00:00:00Z"))
    original, copy = scan_captures_of(store.rows, urlkey(URI))
    cells = DedupeMark(
        run=run, hash_extension=0, copy_number=2, refers_to_key=original.key.decode()
    )
    later = copy.landed_ms + 1
    store.rows.mutate(
        "captures",
        [
            Put(original.key, {Pin.COLUMN: encode_cell(Pin(run=run))}, later),
            Put(copy.key, {DedupeMark.COLUMN: encode_cell(cells)}, later),
        ],
    )
    return original.key.decode(), copy.key.decode()


def test_duplicates_of_other_crawls_stand_in_the_way(store: LandedStore) -> None:
    original, copy = mark(store)
    before = state_of(store)
    result = remove(store)
    assert [(r.capture, r.archive_file, r.original) for r in result.references] == [
        (copy, "two/t.warc.gz", original)
    ]
    after = state_of(store)
    assert after == before
    commit_crawl(store.rows, store.archive, "two", store.actor)
    assert remove(store, "two").is_complete
    assert remove(store).is_complete


def test_revisits_that_a_crawler_wrote_stand_in_the_way(store: LandedStore) -> None:
    store.land(
        "two", "r.warc.gz", revisit("http://else.example/", "2021-01-01T00:00:00Z", URI, DATE)
    )
    result = remove(store)
    assert [reference.archive_file for reference in result.references] == ["two/r.warc.gz"]
    # Another record answers to the same URI and second: nothing would dangle.
    store.land("three", "t.warc.gz", page(URI))
    assert remove(store).is_complete


def test_what_lands_behind_the_last_look_stands_in_the_way_as_well(store: LandedStore) -> None:
    before = read_crawl(store.rows, "one")
    assert before is not None
    record = revisit("http://else.example/", "2021-01-01T00:00:00Z", URI, DATE)

    def land(step: str) -> None:
        if step == "closed":
            store.land("two", "r.warc.gz", record)

    remover = Remover(store.rows, store.archive, Actor(), at=land)
    result = remover.take_out("one", REMOVE)
    assert [reference.archive_file for reference in result.references] == ["two/r.warc.gz"]
    after = read_crawl(store.rows, "one")
    assert after is not None
    assert (after.state, after.act) == (before.state, before.act)
    assert state_of(store)["lease"] is False


@pytest.mark.parametrize(
    ("collection", "target_date"),
    [("elsewhere", DATE), ("default", "2020-01-02T03:04:06Z")],
    ids=["another collection", "another second"],
)
def test_what_refers_to_nothing_here_does_not(
    store: LandedStore, collection: str, target_date: str
) -> None:
    record = revisit("http://else.example/", "2021-01-01T00:00:00Z", URI, target_date)
    store.land("two", "r.warc.gz", record, collection=collection)
    assert remove(store).is_complete


def test_references_within_the_crawl_do_not(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc.gz", page(URI), revisit(URI, "2021-01-01T00:00:00Z", URI, DATE))
    result = Remover(store.rows, store.archive, Actor()).take_out("one", CANCEL)
    assert result.is_complete
    assert store.names() == []
    store.close()


def test_a_dry_run_changes_nothing(store: LandedStore) -> None:
    before = state_of(store)
    result = Remover(store.rows, store.archive, Actor()).take_out("one", REMOVE, dry_run=True)
    assert (result.files, result.captures) == (2, 3)
    assert state_of(store) == before


# --- states, and others at work


@pytest.mark.parametrize(
    ("crawl", "way", "message"),
    [
        ("none", REMOVE, "there is no crawl"),
        ("other", REMOVE, "is open"),
        ("one", CANCEL, "is committed"),
    ],
    ids=["unknown", "open", "committed"],
)
def test_a_crawl_in_another_state_is_refused(
    store: LandedStore, crawl: str, way: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Remover(store.rows, store.archive, Actor()).take_out(crawl, way)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "way"),
    [(CANCELLED, REMOVE), (PURGED, REMOVE), (PURGED, CANCEL), (REMOVED, CANCEL)],
    ids=str,
)
def test_a_crawl_that_is_out_is_refused(store: LandedStore, state: str, way: CrawlDeletion) -> None:
    set_crawl_state(store.rows, "one", state, act="a")
    with pytest.raises(ConfigError, match=f"the crawl one is {state}$"):
        Remover(store.rows, store.archive, Actor()).take_out("one", way)


def test_a_committed_crawl_takes_nothing_new(store: LandedStore) -> None:
    assert store.land("one", "a.warc.gz", page(URI), page("http://example.org/b", b"b")).was_there
    with pytest.raises(Conflict, match="is committed"):
        store.land("one", "new.warc.gz", page(URI))
    assert not commit_crawl(store.rows, store.archive, "one", store.actor).is_new


def test_a_crawl_with_a_landing_that_died_is_not_committed(store: LandedStore) -> None:
    def killed() -> None:
        child = LandedStore(store.folder)
        child.land("other", "dead.warc.gz", page(URI), at=kill_at(2))

    assert in_child(killed) == KILLED
    with pytest.raises(Conflict, match=r"other/dead\.warc\.gz"):
        commit_crawl(store.rows, store.archive, "other", store.actor)


@pytest.mark.parametrize("step", range(8))
def test_cancel_takes_out_what_a_landing_left(store: LandedStore, step: int) -> None:
    before = {name: list(rows) for name, rows in store.dump().items()}
    names = store.names()

    def killed() -> None:
        child = LandedStore(store.folder)
        child.land("open", "dead.warc.gz", page(URI), page("http://x.example/"), at=kill_at(step))

    assert in_child(killed) == KILLED
    result = Remover(store.rows, store.archive, Actor()).take_out("open", CANCEL)
    assert result.is_complete
    assert {name: list(rows) for name, rows in store.dump().items()} == before
    assert [name for name in store.names() if not name.startswith(".landing/")] == names


def test_an_unfinished_run_of_dedupe_comes_first(store: LandedStore) -> None:
    take_lease(store.rows, "default", Actor().claimant(), act="dedupe-20260101T000000-1")
    with pytest.raises(Conflict, match="dedupe-20260101T000000-1"):
        remove(store)


def test_a_landing_at_work_is_waited_for(store: LandedStore) -> None:
    """A file that somebody lands just now is named; the rest leaves; a rerun completes."""
    reached, go_on = threading.Event(), threading.Event()

    def pause(step: str) -> None:
        if step == "rows":
            reached.set()
            assert go_on.wait(60)

    def land() -> None:
        other = LandedStore(store.folder)
        other.land("late", "b.warc.gz", page(URI), at=pause)
        other.close()

    store.land("late", "a.warc.gz", page("http://late.example/"))
    thread = threading.Thread(target=land)
    thread.start()
    assert reached.wait(60)
    try:
        result = Remover(store.rows, store.archive, store.actor).take_out("late", CANCEL)
        assert [problem.file for problem in result.problems] == ["late/b.warc.gz"]
        with pytest.raises(Conflict, match="is being taken out"):
            store.land("late", "c.warc.gz", page(URI))
    finally:
        go_on.set()
        thread.join()
    result = Remover(store.rows, store.archive, store.actor).take_out("late", CANCEL)
    assert result.is_complete
    assert [name for name in store.names() if name.startswith("late/")] == []
    assert not [key for key in store.dump()["digests"] if b"late/" in key]


# --- counting


def test_stats_count_what_is_stored(store: LandedStore) -> None:
    copy = page(URI, date="2021-01-01T00:00:00Z")
    reference = revisit(URI, "2022-01-01T00:00:00Z", URI, DATE)
    store.land("one2", "s.warc.gz", page(URI), copy, page("http://x.example/", b"x"), reference)
    stats = count_crawl(store.rows, store.archive, "one2")
    assert (stats.holdings.files, stats.captures) == (1, 4)
    assert stats.types == {"response": 3, "revisit": 1}
    assert stats.statuses == {"200": 4}
    assert stats.media_types == {"text/html": 4}
    held = stats.holdings
    assert held.landed_bytes == held.stored_bytes == sum(stats.bytes_by_type.values())
    remove(store)
    acts = read_totals(store.rows, "one").by_verb
    assert (acts["ingest"]["acts"], acts["remove"]["removed_captures"]) == (2, 3)


@pytest.mark.parametrize("says_whose", [True, False])
def test_sidecar_of_another_file_takes_no_rows_of_that_along(
    store: LandedStore, says_whose: bool
) -> None:
    """Of an older version it does not say whose it is; row keys do."""
    others = store.folder / "archive" / sidecar_name("other/o.warc.gz")
    ours = store.folder / "archive" / sidecar_name("one/a.warc.gz")
    if says_whose:
        shutil.copy(others, ours)
    else:
        rows = list(read_sidecar(str(others)))
        with ours.open("wb") as file:
            write_sidecar(file, rows)
    [problem] = remove(store).problems
    assert "one/a.warc.gz" in str(problem)
    assert len(list(scan_captures_of(store.rows, urlkey("http://other.example/")))) == 1
    assert len(list(scan_captures_of(store.rows, urlkey(URI)))) == 1
    assert all(finding.mend for finding in look(store, full=True, repair=True))
    assert remove(store).problems == []
    assert len(list(scan_captures_of(store.rows, urlkey("http://other.example/")))) == 1
    assert list(scan_captures_of(store.rows, urlkey(URI))) == []

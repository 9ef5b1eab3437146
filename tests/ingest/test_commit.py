"""A commit says once what the crawl left open, whatever happens; a cancel leaves no trace."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from cluster_stores import store_on
from failing_store import FailingStore, failing_rows
from killing import deaths
from landed_stores import LandedStore, page, revisit, sha1_of
from reporting import report, report_of, traces
from shared_cluster import RunningCluster

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.originals import Asked, OriginalFinder
from pinakes.catalog.reported import scan_scopes_of
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, PURGE, REMOVE, CrawlDeletion
from pinakes.errors import Busy, ConfigError, Conflict, StoreUnavailable
from pinakes.hbase_schema.seen_cells import CommitFindings
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import Commit, commit_crawl
from pinakes.profile import open_stores
from pinakes.row_store.port import RowStore

T = TypeVar("T")
URI = "http://example.org/"
DATE, LATER = "2020-01-02T03:04:05Z", "2021-01-02T03:04:05Z"
BODY, LOST = b"what landed", b"what never landed"
REPORTS = [
    report_of(BODY, URI, DATE),
    report_of(LOST, f"{URI}lost", DATE),
    report_of(LOST, f"{URI}lost", LATER),
    report_of(BODY, URI, LATER),
]
FOUND = CommitFindings(act="", landed=1, never_landed=3, unresolved=3, to_reported=2)
"""Revisits of the page resolve; two name a capture that was reported, one nothing at all."""
RECORDS = (
    page(URI, BODY, date=DATE),
    revisit(URI, "2022-01-01T00:00:00Z", URI, DATE),
    revisit(f"{URI}a", "2022-01-01T00:00:01Z", f"{URI}lost", DATE),
    revisit(f"{URI}lost", "2022-01-01T00:00:02Z", f"{URI}lost", LATER),
    revisit(f"{URI}b", "2022-01-01T00:00:03Z", f"{URI}nothing", DATE),
)


def fill(store: LandedStore) -> None:
    store.land("zero", "z.warc.gz", page("http://other.example/"))
    report(store.rows, "two", REPORTS)
    report(store.rows, "one", REPORTS)
    store.land("one", "a.warc.gz", *RECORDS)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a closed store, to be copied."""
    made = LandedStore(tmp_path_factory.mktemp("filled") / "store")
    fill(made)
    made.close()
    return made.folder


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(shutil.copytree(filled, tmp_path / "store"))
    yield made
    made.close()


def commit(store: LandedStore, rows: Any = None, **options: object) -> Commit:
    return commit_crawl(rows or store.rows, store.archive, "one", Actor(), **options)  # type: ignore[arg-type]


def take_out(store: LandedStore, way: CrawlDeletion, rows: RowStore | None = None) -> None:
    assert Remover(rows or store.rows, store.archive, store.actor).take_out("one", way).is_complete


def numbers(found: CommitFindings) -> tuple[int, ...]:
    return found.landed, found.never_landed, found.unresolved, found.to_reported


def state_of(store: LandedStore) -> dict[str, object]:
    entry = read_crawl(store.rows, "one")
    assert entry is not None
    found = numbers(entry.findings) if entry.is_settled and entry.findings else None
    return {
        "rows": store.dump(),
        "names": store.names(),
        "crawls": dict(traces(store.rows)),
        "crawl": (entry.state, found),
    }


def test_a_commit_counts_and_names_what_is_left_open(store: LandedStore) -> None:
    planned = commit(store, dry_run=True)
    assert (planned.is_new, numbers(planned.findings)) == (True, numbers(FOUND))
    assert list(scan_scopes_of(store.rows, "default", "one"))
    done = commit(store)
    assert (done.is_new, numbers(done.findings)) == (True, numbers(FOUND))
    assert [(one.target_uri, one.date) for one in done.unresolved] == [
        (f"{URI}lost", DATE),
        (f"{URI}lost", LATER),
        (f"{URI}nothing", DATE),
    ]
    assert not list(scan_scopes_of(store.rows, "default", "one"))
    assert list(scan_scopes_of(store.rows, "default", "two"))
    again = commit(store)
    assert (again.is_new, numbers(again.findings)) == (False, numbers(FOUND))
    assert commit(store, dry_run=True).findings == again.findings


@pytest.mark.parametrize(
    ("named", "digest", "unresolved"),
    [("its id", BODY, 0), ("its id", b"of another body", 1), ("another id", BODY, 1)],
)
def test_a_revisit_by_id_of_another_url(
    store: LandedStore, named: str, digest: bytes, unresolved: int
) -> None:
    captures = scan_captures_of(store.rows, urlkey(URI))
    [of_page] = [one.facts.record_id for one in captures if one.facts.type == "response"]
    wanted = of_page if named == "its id" else "urn:uuid:1"
    fields = {"WARC-Refers-To": f"<{wanted}>", "WARC-Payload-Digest": sha1_of(digest)}
    record = page(f"{URI}else", b"", date=LATER, record_type="revisit", extra=fields.items())
    store.land("three", "c.warc.gz", record)
    found = commit_crawl(store.rows, store.archive, "three", Actor()).findings
    assert found.unresolved == unresolved


def test_a_crawl_that_left_nothing_open(store: LandedStore) -> None:
    done = commit_crawl(store.rows, store.archive, "zero", Actor())
    assert (numbers(done.findings), done.unresolved) == ((0, 0, 0, 0), [])


@pytest.fixture(scope="module")
def committed(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    whole = LandedStore(shutil.copytree(filled, tmp_path_factory.mktemp("done") / "store"))
    commit(whole)
    state = state_of(whole)
    whole.close()
    return state


def test_killed_at_a_step_and_run_again(
    filled: Path, committed: dict[str, object], tmp_path: Path
) -> None:
    """Committed, noted, deleted."""

    def work(folder: Path, at: Callable[[str], None]) -> None:
        commit(LandedStore(folder), at=at)

    for step, folder, _ in deaths(tmp_path, work, made=filled, more_than=2):
        store = LandedStore(folder)
        done = commit(store)
        assert (done.is_new, numbers(done.findings)) == (False, numbers(FOUND))
        assert state_of(store) == committed, step
        store.close()
    assert step == 3


def each_call_fails(
    filled: Path, folder: Path, act: Callable[[LandedStore, RowStore | None], object]
) -> Iterator[LandedStore]:
    """Stores in which the act has failed at a call, before or after doing it; one after the
    other."""
    for applied in (False, True):
        call = 0
        while True:
            call += 1
            store = LandedStore(shutil.copytree(filled, folder / f"{applied}-{call}"))
            failing = failing_rows(store.rows, call, applied=applied)
            try:
                act(store, failing)
            except StoreUnavailable:
                yield store
            else:
                assert failing.calls < call
                store.close()
                break
            store.close()
            shutil.rmtree(store.folder)


def test_a_store_that_fails_at_any_call(
    filled: Path, committed: dict[str, object], tmp_path: Path
) -> None:
    for store in each_call_fails(filled, tmp_path, commit):
        assert numbers(commit(store).findings) == numbers(FOUND)
        assert state_of(store) == committed


def at_step(step: str, act: Callable[[], object]) -> Callable[[str], None]:
    def at(reached: str) -> None:
        if reached == step:
            act()

    return at


@pytest.mark.parametrize("step", ["committed", "noted", "deleted"])
def test_two_commits_at_once_find_the_same(
    store: LandedStore, committed: dict[str, object], step: str
) -> None:
    others: list[Commit] = []
    done = commit(store, at=at_step(step, lambda: others.append(commit(store))))
    assert numbers(done.findings) == numbers(others[0].findings) == numbers(FOUND)
    assert (done.is_new, others[0].is_new) == (True, False)
    assert state_of(store) == committed


class _AnotherFirst(FailingStore):
    """Has another process commit the crawl before its n-th call, which does not fail."""

    def __init__(self, store: LandedStore, call: int) -> None:
        super().__init__(store.rows, 0)
        self._at = call
        self._landed = store
        self.other: Commit | None = None

    def call(self, call: Callable[[], T]) -> T:
        if self.calls + 1 == self._at:
            self.other = commit(self._landed)
        return super().call(call)


def test_another_commit_at_any_call(
    filled: Path, committed: dict[str, object], tmp_path: Path
) -> None:
    """As soon as the other one is done, its findings are those of both."""
    call, news = 0, set()
    while True:
        call += 1
        store = LandedStore(shutil.copytree(filled, tmp_path / str(call)))
        rows = _AnotherFirst(store, call)
        done = commit(store, rows)
        if rows.other is None:
            break
        assert numbers(done.findings) == numbers(rows.other.findings) == numbers(FOUND)
        assert done.is_new is not rows.other.is_new
        news.add(done.is_new)
        assert state_of(store) == committed
        store.close()
    assert news == {False, True}
    store.close()


def test_a_commit_that_another_act_comes_before(store: LandedStore) -> None:
    """Where it is not in the wanted state, that stays a conflict."""

    class Cancelled(FailingStore):
        def check_and_put(self, *of: object, **options: object) -> bool:
            take_out(store, CANCEL)
            return bool(store.rows.check_and_put(*of, **options))  # type: ignore[arg-type]

    with pytest.raises(Conflict, match="the crawl one is cancelled and cannot become committed"):
        commit(store, Cancelled(store.rows, 0))


def test_what_is_reported_during_a_commit_is_refused(
    store: LandedStore, committed: dict[str, object]
) -> None:
    def late() -> None:
        with pytest.raises(Conflict, match="is committed"):
            report(store.rows, "one", [report_of(b"late", f"{URI}late", DATE)])

    commit(store, at=at_step("committed", late))
    assert state_of(store) == committed


def test_no_cancel_during_a_commit(store: LandedStore, committed: dict[str, object]) -> None:
    def cancel() -> None:
        with pytest.raises(ConfigError, match="is committed"):
            take_out(store, CANCEL)

    commit(store, at=at_step("committed", cancel))
    assert state_of(store) == committed


def test_no_commit_during_a_cancel(store: LandedStore) -> None:
    def refused() -> None:
        with pytest.raises(ConfigError, match="is cancelling"):
            commit(store)

    remover = Remover(store.rows, store.archive, Actor(), at=at_step("closed", refused))
    assert remover.take_out("one", CANCEL).is_complete


@pytest.mark.parametrize("step", ["committed", "noted"])
def test_removed_during_a_commit(store: LandedStore, step: str) -> None:
    alone = alone_state(store)

    def remove() -> None:
        take_out(store, REMOVE)
        report_again()

    def report_again() -> None:
        store.land("one", "b.warc.gz", page(f"{URI}new", b"new"))
        report(store.rows, "one", REPORTS)

    at = at_step(step, remove)
    if step == "committed":
        with pytest.raises(Conflict, match="another process has changed the crawl one"):
            commit(store, at=at)
    else:
        assert numbers(commit(store, at=at).findings) == numbers(FOUND)
    # The crawl that was begun again is another one: its reports are all there.
    entry = read_crawl(store.rows, "one")
    assert entry is not None
    assert (entry.state, entry.is_settled) == ("open", False)
    assert numbers(commit(store).findings) == (0, 4, 0, 0)
    take_out(store, REMOVE)
    assert dict(traces(store.rows)) == alone


def alone_state(store: LandedStore) -> dict[bytes, set[bytes]]:
    """What is in `crawls`, of the crawl `one` only that it was there."""
    found = dict(traces(store.rows))
    return {
        key: columns for key, columns in found.items() if not key.startswith(b"+default:seen:one")
    }


@pytest.mark.parametrize("way", [CANCEL, PURGE], ids=["cancel", "purge"])
def test_a_crawl_that_is_taken_out_leaves_no_trace(store: LandedStore, way: CrawlDeletion) -> None:
    alone = alone_state(store)
    take_out(store, way)
    assert dict(traces(store.rows)) == alone
    with pytest.raises(Conflict):
        report(store.rows, "one", REPORTS)
    assert dict(traces(store.rows)) == alone


@pytest.mark.slow
def test_a_cancel_whose_store_fails_at_any_call(filled: Path, tmp_path: Path) -> None:
    whole = LandedStore(shutil.copytree(filled, tmp_path / "whole"))
    take_out(whole, CANCEL)
    cancelled = state_of(whole)
    whole.close()

    def cancel(store: LandedStore, rows: RowStore | None) -> None:
        take_out(store, CANCEL, rows)

    count = 0
    for store in each_call_fails(filled, tmp_path / "each", cancel):
        take_out(store, CANCEL)
        assert state_of(store) == cancelled
        count += 1
    assert count > 50


def test_on_hbase_too(cluster: RunningCluster, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with store_on(cluster, tmp_path) as configuration, open_stores(configuration) as stores:
        embedded = LandedStore(folder)
        local = embedded.rows
        embedded.rows, embedded.archive = stores.rows, stores.archive  # type: ignore[assignment]
        fill(embedded)
        before = alone_state(embedded)
        with pytest.raises(KeyboardInterrupt):
            commit(embedded, at=at_step("committed", interrupted))
        assert numbers(commit(embedded).findings) == numbers(FOUND)
        take_out(embedded, REMOVE)
        assert dict(traces(stores.rows)) == before
        local.close()


def interrupted() -> None:
    raise KeyboardInterrupt


def test_several_crawls_at_once_and_readers_see_no_half(tmp_path: Path) -> None:
    folder, crawls, bodies = tmp_path / "store", 4, 3
    LandedStore(folder).close()
    problems: list[BaseException] = []
    ended = threading.Event()

    def urls(crawl: int) -> list[tuple[bytes, str]]:
        return [(b"%d %d" % (crawl, n), f"{URI}{crawl}/{n}") for n in range(bodies)]

    def live(crawl: int) -> None:
        name = f"c{crawl}"
        mine = LandedStore(folder)
        report(mine.rows, name, [report_of(body, url, DATE) for body, url in urls(crawl)])
        report(mine.rows, name, [report_of(LOST, f"{URI}lost", DATE)])
        mine.land(name, "a.warc.gz", *(page(url, body, date=DATE) for body, url in urls(crawl)))
        if crawl % 2:
            found = commit_crawl(mine.rows, mine.archive, name, mine.actor).findings
            assert numbers(found) == (bodies, 1, 0, 0)
        else:
            remover = Remover(mine.rows, mine.archive, mine.actor)
            while True:  # another one may have the lease of the collection
                with suppress(Busy):
                    assert remover.take_out(name, CANCEL).is_complete
                    break
        mine.close()

    def read() -> None:
        mine = LandedStore(folder)
        options = {
            "collection": "default",
            "crawl": None,
            "admits": lambda key, place: True,
            "gives": lambda original: True,
        }
        while not ended.is_set():
            for crawl in range(crawls):
                files = VisibleFiles(mine.rows, fresh_s=0)
                finder = OriginalFinder(mine.rows, files, **options)  # type: ignore[arg-type]
                asked = [Asked(report_of(body, url, DATE).digest) for body, url in urls(crawl)]
                found = [one.original is not None for one in finder.iter_found(asked) if one]
                assert len(set(found)) == 1
                assert not any(found) or crawl % 2
        mine.close()

    def noted(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as problem:
                problems.append(problem)
                raise

        return run

    reader = threading.Thread(target=noted(read))
    writers = [threading.Thread(target=noted(partial(live, crawl))) for crawl in range(crawls)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    reader.join()
    assert not problems
    store = LandedStore(folder)
    assert not [key for key, _ in traces(store.rows) if b":seen:" in key]
    states = [entry.state for n in range(crawls) if (entry := read_crawl(store.rows, f"c{n}"))]
    assert states == ["cancelled", "committed"] * 2
    assert len(store.dump()["captures"]) == bodies * 2
    store.close()

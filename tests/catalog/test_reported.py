"""Reports of captures: rows of one open crawl, which end with it."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path

import pytest
from cluster_stores import store_on
from crawl_states import set_crawl_state
from failing_store import failing_rows
from landed_stores import LandedStore
from shared_cluster import RunningCluster

from pinakes.catalog.crawl_rows import (
    CANCELLED,
    CANCELLING,
    COMMITTED,
    OPEN,
    ensure_crawl,
    read_crawl,
)
from pinakes.catalog.reported import (
    MOST_OF_ONE,
    Report,
    delete_scope,
    find_open_scope,
    forget_reports,
    has_reports,
    newest_reports_of,
    open_scope,
    put_reports,
    reports_at,
    reports_with,
    scan_reports,
    scan_scopes_of,
)
from pinakes.errors import Conflict, StoreUnavailable
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.seen_cells import SeenCapture
from pinakes.hbase_schema.seen_keys import opening_of, seen_in
from pinakes.profile import open_stores
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest

URL = "http://example.org/a"


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[RowStore]:
    store = LandedStore(tmp_path / "store")
    yield store.rows
    store.close()


def digest(number: int) -> Digest:
    return Digest("sha1", sha1(b"%d" % number).digest())


def report(number: int, url: str = URL, date: str = "2024-02-29T12:34:56Z") -> Report:
    seen = SeenCapture(url=url, date=date, mime="text/html", status=200, size=5, file="a.wacz")
    return Report(digest=digest(number), seen=seen)


def begin(rows: RowStore, crawl: str = "spring", *, act: str = "a-1") -> None:
    ensure_crawl(rows, crawl, CrawlFacts(collection="news"), act=act, act_time_ms=1)


def left(rows: RowStore, crawl: str = "spring") -> int:
    return len(list(rows.scan("crawls", seen_in("news", crawl))))


def a_life_of_reports(rows: RowStore) -> None:
    """What holds on every store."""
    begin(rows)
    begin(rows, "summer")
    spring, summer = open_scope(rows, "spring"), open_scope(rows, "summer")
    assert not has_reports(rows, spring)
    later = report(1, date="2024-03-01T00:00:00Z")
    elsewhere = report(2, "http://example.org/b")
    given = [later, report(1), elsewhere]
    put_reports(rows, spring, given)
    put_reports(rows, spring, given[:2])
    assert has_reports(rows, spring)
    assert not has_reports(rows, summer)
    in_order = sorted(given, key=lambda one: (one.digest.hex, one.second))
    assert list(scan_reports(rows, spring)) == in_order
    wanted = [digest(1), digest(3)]
    assert reports_with(rows, spring, wanted) == {digest(1): [report(1), later], digest(3): []}
    assert reports_with(rows, summer, wanted) == {digest(1): [], digest(3): []}
    at = [(later.urlkey, None), (later.urlkey, later.second), (elsewhere.urlkey, later.second)]
    assert list(reports_at(rows, spring, at).values()) == [[report(1), later], [later], []]
    assert newest_reports_of(rows, spring, later.urlkey) == [later, report(1)]
    put_reports(rows, summer, given)
    delete_scope(rows, spring)
    forget_reports(rows, "news", "spring")
    assert (left(rows), left(rows, "summer")) == (0, 6)


def test_reports_are_found_and_deleted(rows: RowStore) -> None:
    a_life_of_reports(rows)


def test_on_hbase_too(cluster: RunningCluster, tmp_path: Path) -> None:
    with store_on(cluster, tmp_path) as configuration, open_stores(configuration) as stores:
        a_life_of_reports(stores.rows)


def test_of_many_the_first_are_given(rows: RowStore) -> None:
    begin(rows)
    scope = open_scope(rows, "spring")
    many = [report(1, date=f"2024-01-01T00:00:{n:02d}Z") for n in range(20)]
    put_reports(rows, scope, many)
    assert reports_with(rows, scope, [digest(1)])[digest(1)] == many[:MOST_OF_ONE]
    assert newest_reports_of(rows, scope, many[0].urlkey) == many[: -MOST_OF_ONE - 1 : -1]
    assert len(list(scan_reports(rows, scope))) == 20


def test_two_urls_of_one_urlkey_are_one_address(rows: RowStore) -> None:
    begin(rows)
    scope = open_scope(rows, "spring")
    put_reports(rows, scope, [report(1), report(2, URL.replace("http:", "https:"))])
    found = reports_at(rows, scope, [(report(1).urlkey, report(1).second)])
    assert sorted(one.digest.hex for [*some] in found.values() for one in some) == sorted(
        [digest(1).hex, digest(2).hex]
    )


@pytest.mark.parametrize("state", [COMMITTED, CANCELLING, CANCELLED])
def test_only_an_open_crawl_has_reports(rows: RowStore, state: str) -> None:
    begin(rows)
    scope = open_scope(rows, "spring")
    set_crawl_state(rows, "spring", state, act="a-2")
    assert find_open_scope(rows, "spring") is None
    with pytest.raises(Conflict):
        open_scope(rows, "spring")
    with pytest.raises(Conflict):
        put_reports(rows, scope, [report(1)])
    assert left(rows) == 0


def test_an_unknown_crawl_has_none(rows: RowStore) -> None:
    assert find_open_scope(rows, "nothing") is None
    with pytest.raises(Conflict, match="there is no crawl nothing"):
        open_scope(rows, "nothing")


def test_what_was_reported_before_is_not_that_of_the_crawl_opened_again(rows: RowStore) -> None:
    begin(rows)
    before = open_scope(rows, "spring")
    put_reports(rows, before, [report(1)])
    set_crawl_state(rows, "spring", CANCELLED, act="a-2")
    begin(rows, act="a-3")
    again = open_scope(rows, "spring")
    # As by a process that died after it had written, and before it looked again.
    assert left(rows) == 2
    assert list(scan_reports(rows, again)) == []
    assert reports_with(rows, again, [digest(1)]) == {digest(1): []}
    with pytest.raises(Conflict, match="opened again"):
        put_reports(rows, before, [report(2)])
    put_reports(rows, again, [report(3)])
    assert set(scan_scopes_of(rows, "news", "spring")) == {before, again}
    delete_scope(rows, before)
    assert list(scan_reports(rows, again)) == [report(3)]
    put_reports(rows, again, [report(3)])
    forget_reports(rows, "news", "spring")
    assert left(rows) == 0


class BackgroundWork:
    """A row store in which another process begins the crawl behind the first read."""

    def __init__(self, rows: RowStore, state: str) -> None:
        self._rows = rows
        self._state = state

    def __getattr__(self, name: str) -> object:
        return getattr(self._rows, name)

    def get_rows(self, *args: object, **options: object) -> object:
        found = self._rows.get_rows(*args, **options)  # type: ignore[arg-type]
        if read_crawl(self._rows, "spring") is None:
            begin(self._rows, act="a-1")
            set_crawl_state(self._rows, "spring", self._state, act="a-1")
        return found


def test_two_that_begin_a_crawl_at_once_open_it_once(rows: RowStore) -> None:
    begin(BackgroundWork(rows, OPEN), act="a-2")  # type: ignore[arg-type]
    assert open_scope(rows, "spring").opening == opening_of("a-1")


def test_who_begins_a_crawl_late_does_not_open_it_again(rows: RowStore) -> None:
    with pytest.raises(Conflict, match="is committed"):
        begin(BackgroundWork(rows, COMMITTED), act="a-2")  # type: ignore[arg-type]
    entry = read_crawl(rows, "spring")
    assert entry is not None
    assert entry.state == COMMITTED


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not a date"):
        report(1, date="yesterday")


def test_reports_to_a_store_that_fails_at_any_call(rows: RowStore) -> None:
    begin(rows)
    scope = open_scope(rows, "spring")
    failing = failing_rows(rows, 0)
    put_reports(failing, scope, [report(1), report(2)])
    for applied in (False, True):
        for call in range(1, failing.calls + 1):
            delete_scope(rows, scope)
            with pytest.raises(StoreUnavailable):
                put_reports(failing_rows(rows, call, applied=applied), scope, [report(1)])
            put_reports(rows, scope, [report(1)])
            assert list(scan_reports(rows, scope)) == [report(1)]
            assert left(rows) == 2

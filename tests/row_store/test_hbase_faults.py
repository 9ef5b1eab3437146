"""The row store while HBase's servers are killed, and hang.

A supervisor is what brings servers back in production; here the tests call `up`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from hbase_opener import HBaseOpener, hbase_tables
from row_store_contract import CAPTURE, CLAIM
from shared_cluster import RunningCluster
from store_openers import SCHEMA
from store_workers import pair_put

from local_cluster.state import running
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.ranges import prefix_range
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.port import Put, get_row

pytestmark = pytest.mark.faults

ROWS = 20_000


@pytest.fixture
def opener(cluster_alone: RunningCluster) -> Iterator[HBaseOpener]:
    with hbase_tables(cluster_alone.layout) as opener:
        patient = replace(opener.connection, timeout_s=20.0, retry_s=300.0)
        yield HBaseOpener(patient)


@pytest.fixture
def store(opener: HBaseOpener) -> Iterator[HBaseRowStore]:
    with closing(opener.open()) as store:
        yield store


def send(cluster: RunningCluster, server: str, number: int) -> None:
    os.kill(running(cluster.layout)[server].pid, number)


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread; its error is the test's."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001  (raised again below)
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("server", ["regionserver", "thrift"])
def test_server_killed_during_puts_and_scans(
    cluster_alone: RunningCluster, store: HBaseRowStore, server: str
) -> None:
    puts = [pair_put(b"k/", number, 1) for number in range(ROWS)]
    killed = threading.Event()

    def kill_and_start() -> None:
        send(cluster_alone, server, signal.SIGKILL)
        killed.set()
        cluster_alone.up()

    store.mutate("captures", puts[: ROWS // 2])
    with meanwhile(kill_and_start):
        killed.wait()
        store.mutate("captures", puts[ROWS // 2 :])
    scan = store.scan("captures", prefix_range(b"k/"))
    found = [next(scan) for _ in range(10)]
    killed.clear()
    with meanwhile(kill_and_start):
        killed.wait()
        found += scan
    assert [row.key for row in found] == [put.row for put in puts]
    assert {len(row.cells) for row in found} == {2}


def test_check_and_put_while_the_region_server_is_killed(
    cluster_alone: RunningCluster, opener: HBaseOpener
) -> None:
    """Several count one cell up, each value with a token of its own; none is lost."""

    def count_up(who: bytes) -> None:
        with closing(opener.open()) as store:
            for number in range(30):
                while True:
                    row = get_row(store, "files", b"r")
                    now = row.value(CLAIM) if row else None
                    count = int((now or b"0").partition(b" ")[0])
                    value = b"%d %b%d" % (count + 1, who, number)
                    if store.check_and_put("files", b"r", CLAIM, expected=now, value=value):
                        break

    with meanwhile(lambda: count_up(b"a")), meanwhile(lambda: count_up(b"b")):
        send(cluster_alone, "regionserver", signal.SIGKILL)
        cluster_alone.up()
    with closing(opener.open()) as store:
        row = get_row(store, "files", b"r")
        assert row is not None
        assert (row.value(CLAIM) or b"").partition(b" ")[0] == b"60"


def test_hanging_thrift_server(cluster_alone: RunningCluster, opener: HBaseOpener) -> None:
    hasty = replace(opener.connection, timeout_s=0.5, retry_s=1.0)
    with closing(HBaseRowStore(hasty, SCHEMA)) as store:
        store.mutate("captures", [Put(b"before", {CAPTURE: b""}, 1)])
        send(cluster_alone, "thrift", signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="does not answer"):
                store.mutate("captures", [Put(b"during", {CAPTURE: b"old"}, 1)])
            with pytest.raises(StoreUnavailable, match="does not answer"):
                get_row(store, "captures", b"before")
        finally:
            send(cluster_alone, "thrift", signal.SIGCONT)
    with closing(opener.open()) as store:
        store.mutate("captures", [Put(b"during", {CAPTURE: b"new"}, 2)])
        row = get_row(store, "captures", b"during")
        assert row is not None
        assert row.value(CAPTURE) == b"new"

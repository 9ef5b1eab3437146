"""The row store while regions are split, and moved to another region server and back."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest
from hbase_opener import hbase_tables
from shared_cluster import RunningCluster
from store_workers import pair_put

from local_cluster.layout import HOST
from pinakes.backup.hbase_jvm import HBaseJvm, open_jvm
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.digest_keys import DigestKey, digests_of, encode_digest_key
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import Put, RowStore

pytestmark = pytest.mark.faults

ROWS = 30_000
MOVES = 3
LONG_S = 300.0


@contextmanager
def another_region_server(cluster: RunningCluster, log: Path) -> Iterator[int]:
    """Started by HBase's command; its port.  What it serves at the end goes back."""
    with socket.create_server((HOST, 0)) as one, socket.create_server((HOST, 0)) as two:
        port, info_port = one.getsockname()[1], two.getsockname()[1]
    command = (
        str(cluster.layout.bin / "hbase"),
        "org.apache.hadoop.hbase.regionserver.HRegionServer",
        *("-D", f"hbase.regionserver.port={port}"),
        *("-D", f"hbase.regionserver.info.port={info_port}"),
        "start",
    )
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield port
    finally:
        server.terminate()
        server.wait()


class Regions:
    """The regions of one table, as HBase's own client has them."""

    def __init__(self, jvm: HBaseJvm, table: bytes) -> None:
        self._jvm = jvm
        configuration = jvm.hbase.HBaseConfiguration.create()
        self._connection = jvm.hbase.client.ConnectionFactory.createConnection(configuration)
        self._admin = self._connection.getAdmin()
        self._table = jvm.hbase.TableName.valueOf(table.decode())

    def servers(self) -> dict[int, Any]:
        """The region servers by port."""
        return {server.getPort(): server for server in self._admin.getRegionServers()}

    def ports(self) -> list[int]:
        """The port of each region's server, in order of the regions; 0 for one without."""
        with closing(self._connection.getRegionLocator(self._table)) as locator:
            locator.clearRegionLocationCache()
            servers = [location.getServerName() for location in locator.getAllRegionLocations()]
        return [server.getPort() if server else 0 for server in servers]

    def split(self, key: bytes) -> None:
        """Split the region that has this key there, and wait until it is."""
        count = len(self.ports())
        self._admin.split(self._table, key)
        until(lambda: len(self.ports()) > count)

    def move(self, port: int) -> None:
        """Move all regions to a server, and wait until they are there."""

        def moved() -> bool:
            for region in self._admin.getRegions(self._table):
                # One in transition is moved the next time.
                with suppress(StoreUnavailable), self._jvm.asked("a move"):
                    self._admin.move(region.getEncodedNameAsBytes(), self.servers()[port])
            return set(self.ports()) == {port}

        until(moved)


def until(found: Callable[[], object]) -> None:
    """Return when there is something to be found."""
    end_s = time.monotonic() + LONG_S
    while not found():
        assert time.monotonic() < end_s
        time.sleep(0.2)


def test_regions_are_split_and_moved_while_rows_are_scanned(
    cluster_alone: RunningCluster, tmp_path: Path
) -> None:
    layout = cluster_alone.layout
    puts = [pair_put(b"k/", number, 1) for number in range(ROWS)]
    keys = [put.row for put in puts]
    home = layout.port("regionserver")
    with (
        hbase_tables(layout) as opener,
        closing(opener.open()) as store,
        another_region_server(cluster_alone, tmp_path / "log") as away,
        open_jvm([str(layout.bin / "hbase")]) as jvm,
    ):
        store.mutate("captures", puts)
        regions = Regions(jvm, opener.connection.table("captures"))
        until(lambda: away in regions.servers())
        scan = store.scan("captures")
        found = [next(scan).key for _ in range(10)]
        regions.split(keys[ROWS // 2])
        regions.move(away)
        assert found + [row.key for row in scan] == keys
        done = threading.Event()

        def move_to_and_fro() -> None:
            try:
                for _ in range(MOVES):
                    regions.move(home)
                    regions.move(away)
            finally:
                done.set()

        moving = threading.Thread(target=move_to_and_fro)
        moving.start()
        scans = 0
        while not done.is_set():
            assert [row.key for row in store.scan("captures")] == keys
            assert [row.key for row in store.scan("captures", reverse=True)] == keys[::-1]
            scans += 1
        moving.join()
        assert scans
        assert set(regions.ports()) == {away}


# --- Scans of one content find their rows wherever these lie: in memory, in many files, in one


SCOPES = ("s", "default", "a-scope-of-27-letters-abcdef", "l" * 100)
FILES = 4


def keys_of(part: int) -> Iterator[bytes]:
    """Rows of one of the files: contents of their own, and some that every file has."""
    for number in range(60):
        body = b"%d" % number if number < 10 else b"%d %d" % (part, number)
        for scope in SCOPES:
            for algorithm, digest in (("sha1", sha1(body)), ("sha256", sha256(body))):
                name = f"c{part}/{number}.warc.gz"
                yield encode_digest_key(
                    DigestKey(
                        scope, algorithm, digest.hexdigest(), 5, "20200101000000", name, number
                    )
                )


def contents(keys: set[bytes]) -> dict[KeyRange, list[bytes]]:
    """What a scan of each content has to find; and of contents that are not there, nothing."""
    ranges = [
        digests_of(scope, algorithm, hexadecimal)
        for scope in SCOPES
        for number in range(80)
        for part in range(FILES)
        for body in (b"%d" % number, b"%d %d" % (part, number))
        for algorithm, hexadecimal in (
            ("sha1", sha1(body).hexdigest()),
            ("sha256", sha256(body).hexdigest()),
        )
    ]
    return {each: sorted(key for key in keys if key in each) for each in set(ranges)}


def check(store: RowStore, wanted: dict[KeyRange, list[bytes]]) -> None:
    ranges = list(wanted)
    found = store.first_rows("digests", ranges, limit_rows=100)
    assert [[row.key for row in rows] for rows in found] == [wanted[each] for each in ranges]
    for each in ranges[:100]:
        backwards = [row.key for row in store.scan("digests", each, reverse=True)]
        assert backwards == wanted[each][::-1]


def test_scans_of_one_content_find_all_of_it(cluster: RunningCluster) -> None:
    layout = cluster.layout
    with (
        hbase_tables(layout) as opener,
        closing(opener.open()) as store,
        open_jvm([str(layout.bin / "hbase")]) as jvm,
    ):
        configuration = jvm.hbase.HBaseConfiguration.create()
        connection = jvm.hbase.client.ConnectionFactory.createConnection(configuration)
        with closing(connection), closing(connection.getAdmin()) as admin:
            table = jvm.hbase.TableName.valueOf(opener.connection.table("digests").decode())
            keys: set[bytes] = set()
            for part in range(FILES):
                some = list(keys_of(part))
                keys.update(some)
                store.mutate("digests", [Put(key, {b"r:capture": b"{}"}, 1) for key in some])
                if part < FILES - 1:  # the last ones are still in memory
                    admin.flush(table)
            wanted = contents(keys)
            assert {bool(rows) for rows in wanted.values()} == {True, False}
            check(store, wanted)
            admin.flush(table)
            admin.majorCompact(table)
            until_s = time.monotonic() + LONG_S
            while str(admin.getCompactionState(table)) != "NONE":
                assert time.monotonic() < until_s
                time.sleep(0.2)
            check(store, wanted)

"""Landing in bulk on real HBase, beside landing by puts on the embedded store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import pytest
from hbase_opener import drop_tables, namespace_of_its_own
from landed_stores import LandedStore, page
from shared_cluster import RunningCluster

from pinakes.archive_store.local import LocalArchiveStore
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import read_entry, scan_inflight
from pinakes.hadoop_tools import HadoopTools, run_tool
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.acts import Actor
from pinakes.ingest.bulk_landing import BulkLanding
from pinakes.ingest.bulk_loads import HBaseLoads, spool_folder
from pinakes.ingest.fsck import Fsck
from pinakes.ingest.landing import Lander
from pinakes.ingest.row_spool import RowSpool
from pinakes.row_store.hbase import HBaseRowStore
from pinakes.row_store.hbase_admin import HBaseSchemaAdmin
from pinakes.row_store.hbase_bulk import BulkLoading, list_loads
from pinakes.row_store.hbase_connection import HBaseConnection
from pinakes.row_store.port import RowStore

ODD = "http://example.org/\u00e9?a=%09\t\u2028b&c=\\n"
FILES = {
    "a.warc.gz": [page(f"http://example.org/{n}", b"%d" % n) for n in range(40)],
    "b.warc.gz": [page(ODD, b"x"), page(ODD, b"y", date="2021-01-01T00:00:00Z")],
}


WANTED = ("captures", "digests", "files", "crawls", "inflight")
SCHEMA = replace(
    declared_schema(), tables=tuple(t for t in declared_schema().tables if t.name in WANTED)
)


class ActorAt(Actor):
    """One whose clock stands still, so that two stores can be compared to the last cell."""

    def now_ms(self) -> int:
        return 1_700_000_000_000


@pytest.fixture
def tools(cluster: RunningCluster) -> HadoopTools:
    """The commands of the cluster."""
    folder = cluster.layout.bin
    return HadoopTools(hbase=(str(folder / "hbase"),), hadoop=(str(folder / "hadoop"),))


@pytest.fixture
def tables(cluster: RunningCluster) -> Iterator[HBaseConnection]:
    """The tables that a landing writes to; the others take their time to make."""
    connection = namespace_of_its_own(cluster.layout)
    try:
        with closing(HBaseSchemaAdmin(connection)) as admin:
            admin.apply(SCHEMA)
        yield connection
    finally:
        drop_tables(connection)


@pytest.fixture
def folder(tools: HadoopTools) -> Iterator[str]:
    """A folder of HDFS for loads, gone afterwards."""
    name = f"/bulk-test-{token_hex(8)}"
    yield name
    run_tool([*tools.hadoop, "fs", "-rm", "-r", "-f", "-skipTrash", name])


def begin(rows: RowStore) -> None:
    facts = CrawlFacts(collection="default")
    ensure_crawl(rows, "c", facts, act="ingest-begin", act_time_ms=1_600_000_000_000)


def write_files(inbox: Path) -> None:
    inbox.mkdir()
    for name, records in FILES.items():
        (inbox / name).write_bytes(b"".join(records))


def land_by_puts(rows: RowStore, tmp_path: Path) -> None:
    begin(rows)
    lander = Lander(rows, LocalArchiveStore(tmp_path / "plain-archive"), ActorAt())
    for name in FILES:
        lander.land(tmp_path / "inbox" / name, f"c/{name}", "default")


def land_in_bulk(
    rows: HBaseRowStore,
    tmp_path: Path,
    loading: BulkLoading,
    at: Callable[[str], None] = lambda step: None,
) -> int:
    begin(rows)
    actor = ActorAt()
    # Names of folders are the user's, and Hadoop takes * and [ for patterns.
    temp_dir = tmp_path / f"temp [{token_hex(4)}]*"
    temp_dir.mkdir()
    loads = HBaseLoads(loading, actor, on_line=print, at=at)
    landed: list[object] = []
    with spool_folder(actor, temp_dir) as folder:
        spool = RowSpool(folder)
        bulk = BulkLanding(
            Lander(rows, LocalArchiveStore(tmp_path / "bulk"), actor, sinks=spool.sink),
            actor,
            spool,
            loads,
            done=landed.append,
            missed=landed.append,
            batch_bytes=1 << 30,
            at=at,
        )
        for name in FILES:
            bulk.land(tmp_path / "inbox" / name, f"c/{name}", "default")
        bulk.flush()
    assert list(temp_dir.iterdir()) == []
    return len(landed)


def every_version(rows: HBaseRowStore) -> dict[tuple[str, bytes, bytes], list[tuple[bytes, int]]]:
    """All versions of all cells of captures and digests, as HBase itself has them."""
    found = {}
    calls = rows._calls
    for table in ("captures", "digests"):
        name = rows._connection.table(table)
        for row in rows.scan(table):
            for column in row.cells:

                def ask(client, name=name, row=row, column=column):
                    return client.getVer(name, row.key, column, 100, {})

                versions = calls.call(ask)
                found[table, row.key, column] = [(one.value, one.timestamp) for one in versions]
    return found


def test_the_cells_are_those_of_puts(
    tables: HBaseConnection, tools: HadoopTools, folder: str, tmp_path: Path
) -> None:
    write_files(tmp_path / "inbox")
    plain = LandedStore(tmp_path / "plain")
    land_by_puts(plain.rows, tmp_path)
    expected = {
        (table, row.key, column): [(cell.value, cell.timestamp_ms)]
        for table in ("captures", "digests")
        for row in plain.rows.scan(table)
        for column, cell in row.cells.items()
    }
    plain.close()
    assert len(expected) == 42 * 2 + 42 * 2

    loading = BulkLoading(tools=tools, connection=tables, folder=folder, mapreduce="local")
    steps: list[str] = []
    with closing(HBaseRowStore(tables, SCHEMA)) as rows:
        assert land_in_bulk(rows, tmp_path, loading, steps.append) == len(FILES)
        assert every_version(rows) == expected
        assert scan_inflight(rows) == set()
        assert {read_entry(rows, f"c/{name}").state for name in FILES} == {"stored"}
        fsck = Fsck(rows, LocalArchiveStore(tmp_path / "bulk"), Actor(), full=True)
        assert list(fsck.findings()) == []
    assert steps == ["in hdfs", "hfiles", "loaded captures", "loaded digests", "loaded"]
    assert list_loads(loading) == []

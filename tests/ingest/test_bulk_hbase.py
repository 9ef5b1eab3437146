"""`pinakes ingest --bulk` on real HBase and HDFS, beside landing by puts on the embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex

import pytest
from hbase_opener import drop_tables
from landed_stores import page
from shared_cluster import RunningCluster

from pinakes.acts.actor import Actor
from pinakes.cli import main
from pinakes.config import Configuration, format_settings, load_configuration
from pinakes.hadoop_tools import run_tool
from pinakes.profile import bulk_loading, hbase_connection, open_stores
from pinakes.row_store.hbase.bulk import list_loads
from pinakes.row_store.hbase.store import HBaseRowStore

pytestmark = pytest.mark.yarn

ODD = "http://example.org/\u00e9?a=%09\t\u2028b&c=\\n"
FILES = {
    "a.warc.gz": [page(f"http://example.org/{n}", b"%d" % n) for n in range(40)],
    "b.warc.gz": [page(ODD, b"x"), page(ODD, b"y", date="2021-01-01T00:00:00Z")],
}
Cells = dict[tuple[str, bytes, bytes], list[tuple[bytes, int]]]


@pytest.fixture
def on_cluster(cluster: RunningCluster, tmp_path: Path) -> Iterator[Configuration]:
    """The configuration of a store that is not made yet; all that is put there goes at the end."""
    # Names of folders are the user's, and Hadoop takes * and [ for patterns.
    temp_dir = tmp_path / "temp [a]*"
    temp_dir.mkdir()
    name = f"test{token_hex(4)}"
    settings = {
        "store": str(tmp_path / "runs"),
        "temp_dir": str(temp_dir),
        "bulk_folder": f"/{name}-bulk",
        "hbase_timeout_s": "180",
        **cluster.settings(name),
    }
    (tmp_path / "cluster.toml").write_text(format_settings(settings))
    found = load_configuration(tmp_path / "cluster.toml", environment={})
    try:
        yield found
    finally:
        hadoop = bulk_loading(found).tools.hadoop
        run_tool([*hadoop, "fs", "-rm", "-r", "-f", "-skipTrash", f"/{name}-bulk", f"/{name}"])
        drop_tables(hbase_connection(found))


@pytest.fixture
def embedded(tmp_path: Path) -> Configuration:
    (tmp_path / "embedded.toml").write_text(format_settings({"store": str(tmp_path / "embedded")}))
    return load_configuration(tmp_path / "embedded.toml", environment={})


@pytest.fixture(autouse=True)
def acts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Acts are named and dated alike, so that two stores can be compared to the last cell."""
    monkeypatch.setattr(Actor, "new_act", lambda self, verb: f"{verb}-0")
    monkeypatch.setattr(Actor, "now_ms", lambda self: 1_700_000_000_000)


def every_version(rows: HBaseRowStore) -> Cells:
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


def every_cell(configuration: Configuration) -> Cells:
    with open_stores(configuration) as stores:
        return {
            (table, row.key, column): [(cell.value, cell.timestamp_ms)]
            for table in ("captures", "digests")
            for row in stores.rows.scan(table)
            for column, cell in row.cells.items()
        }


@pytest.mark.parametrize("mapreduce", ["local", "yarn"])
def test_the_cells_are_those_of_puts(
    on_cluster: Configuration,
    embedded: Configuration,
    tmp_path: Path,
    mapreduce: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PINAKES_BULK_MAPREDUCE", mapreduce)
    (tmp_path / "inbox").mkdir()
    for name, records in FILES.items():
        (tmp_path / "inbox" / name).write_bytes(b"".join(records))
    ingest = ["ingest", str(tmp_path / "inbox"), "--crawl", "c"]
    for kind, verb in (("embedded", ingest), ("cluster", [*ingest, "--bulk"])):
        file = str(tmp_path / f"{kind}.toml")
        assert main(["init", "--config", file]) == 0
        assert main([*verb, "--config", file]) == 0
        assert main(["fsck", "--full", "--config", file]) == 0
    expected = every_cell(embedded)
    assert len(expected) == 42 + 42 * 2  # a capture is one cell, and a row for each of its digests
    with closing(HBaseRowStore(hbase_connection(on_cluster))) as rows:
        assert every_version(rows) == expected
    assert list_loads(bulk_loading(on_cluster)) == []
    assert list((tmp_path / "temp [a]*").iterdir()) == []

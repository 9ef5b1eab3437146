"""What a store keeps in HDFS and HBase, by WebHDFS and happybase: nothing of ours reads or writes.

All rounds share tables, since making them takes longer than a round.  A table is emptied by
deletes, which in HBase hide whatever is put with an older time: so cells are put with new times,
in the order of their old ones.
"""

from __future__ import annotations

import getpass
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote, urlsplit

import happybase
from cluster_scenes import configuration_of, make_store
from hbase_opener import drop_tables
from shared_cluster import RunningCluster
from stored_things import TABLES, Cell, StoredThings, StoreInFolder

from local_cluster.layout import HOST
from pinakes.config import format_settings
from pinakes.hbase_schema.tables import declared_schema
from pinakes.profile import hbase_connection

ALL_TABLES = tuple(table.name for table in declared_schema().tables)


class FilesOfHdfs:
    """`StoredFiles` in a folder of HDFS."""

    def __init__(self, server: str, folder: str) -> None:
        """`server` is the host and port of the name node's WebHDFS."""
        self._server = server
        self._folder = folder

    def names(self) -> list[str]:
        return sorted(self._below(""))

    def read(self, name: str) -> bytes:
        return self._ask("GET", "OPEN", name)

    def write(self, name: str, data: bytes) -> None:
        self._ask("PUT", "CREATE&overwrite=true", name, data)

    def delete(self, name: str) -> None:
        """Take a file away, or a folder with all that is in it."""
        self._ask("DELETE", "DELETE&recursive=true", name)

    def _below(self, folder: str) -> Iterator[str]:
        listed = json.loads(self._ask("GET", "LISTSTATUS", folder))
        for status in listed["FileStatuses"]["FileStatus"]:
            name = f"{folder}/{status['pathSuffix']}".lstrip("/")
            if status["type"] == "DIRECTORY":
                yield from self._below(name)
            else:
                yield name

    def _ask(self, method: str, operation: str, name: str, data: bytes | None = None) -> bytes:
        path = quote(f"{self._folder}/{name}".rstrip("/"))
        user = getpass.getuser()
        server, target = self._server, f"/webhdfs/v1{path}?op={operation}&user.name={user}"
        for content in (None, data):  # the name node names a data node, which gets the bytes
            with closing(HTTPConnection(server, timeout=120)) as connection:
                connection.request(method, target, body=content)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status == 307:
                    where = urlsplit(answer.headers["Location"])
                    server, target = where.netloc, f"{where.path}?{where.query}"
                    continue
                assert answer.status < 300, (method, target, answer.status, body)
                return body
        raise AssertionError(f"sent on twice: {method} {target}")


class StoreOnCluster:
    """`StoredThings` of the cluster profile."""

    def __init__(self, files: FilesOfHdfs, rows: RowsOfHBase, settings: Path) -> None:
        self.files = files
        self._rows = rows
        self.options = ("--config", str(settings))

    def archive_here(self, folder: Path) -> Path:
        for name in self.files.names():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(self.files.read(name))
        return folder

    def cells(self) -> Iterator[Cell]:
        return self._rows.cells()

    def put(self, cell: Cell, value: bytes) -> None:
        self._rows.put([cell._replace(value=value)])

    def delete_cell(self, cell: Cell) -> None:
        self._rows.delete(cell.table, cell.row, cell)

    def delete_row(self, table: str, row: bytes) -> None:
        self._rows.delete(table, row, None)

    def put_rows_back(self, earlier: StoreInFolder) -> None:
        self._rows.replace(earlier)

    def remove(self) -> None:
        self.files.delete("")


class RowsOfHBase:
    """The tables under one prefix."""

    def __init__(self, connection: happybase.Connection, prefix: str) -> None:
        self._tables = {name: connection.table(f"{prefix}{name}") for name in ALL_TABLES}

    def cells(self) -> Iterator[Cell]:
        """The newest of each column, in order."""
        for table in TABLES:
            for row, columns in self._tables[table].scan(include_timestamp=True):
                for column, (value, time_ms) in sorted(columns.items()):
                    yield Cell(table, row, column, time_ms, value)

    def put(self, cells: list[Cell]) -> None:
        for table, time_ms in sorted({(cell.table, cell.time_ms) for cell in cells}):
            with self._tables[table].batch(timestamp=time_ms) as batch:
                for cell in cells:
                    if (cell.table, cell.time_ms) == (table, time_ms):
                        batch.put(cell.row, {cell.column: cell.value})

    def delete(self, table: str, row: bytes, cell: Cell | None) -> None:
        """All of a row, or one of its cells, with what older ones it hides."""
        self._tables[table].delete(row, columns=[cell.column] if cell else None)

    def replace(self, store: StoreInFolder) -> None:
        """Empty the tables, and put there what a store has."""
        for table in self._tables.values():
            with table.batch() as batch:
                for row, _ in table.scan(filter="KeyOnlyFilter()"):
                    batch.delete(row)
        time.sleep(0.01)  # the deletes are older
        cells = list(store.cells(ALL_TABLES))
        times = sorted({cell.time_ms for cell in cells})
        new = dict(
            zip(times, range(now := time.time_ns() // 1_000_000, now + len(times)), strict=True)
        )
        self.put([cell._replace(time_ms=new[cell.time_ms]) for cell in cells])
        time.sleep(len(times) / 1000)  # none is of the future


class Cluster:
    """The `Place` of stores on a cluster: one at a time."""

    # They take the rows of all tables by jobs of HBase, a minute each; a backup of the embedded
    # profile cannot be restored here.
    LEFT_OUT = frozenset({"backup", "restore-backup"})

    def __init__(self, rows: RowsOfHBase, settings: dict[str, str], web: str) -> None:
        self._rows = rows
        self._settings = settings
        self._web = web
        self._laid = 0

    def lay(self, scene: Path, folder: Path) -> StoredThings:
        folder.mkdir()
        self._laid += 1
        url = f"{self._settings['hdfs']}/{self._laid}"
        settings = {**self._settings, "hdfs": url, "store": str(folder / "runs")}
        (folder / "pinakes.toml").write_text(format_settings(settings))
        source = StoreInFolder(scene)
        files = FilesOfHdfs(self._web, urlsplit(url).path)
        for name in source.files.names():
            files.write(name, source.files.read(name))
        self._rows.replace(source)
        return StoreOnCluster(files, self._rows, folder / "pinakes.toml")


@contextmanager
def stores_on(cluster: RunningCluster, folder: Path) -> Iterator[Cluster]:
    """Tables and a folder of HDFS for rounds; they go at the end."""
    settings = {
        **cluster.settings(f"rot{token_hex(4)}"),
        "store": str(folder / "runs"),
        "hbase_timeout_s": "180",  # making a table takes a minute on a host with much to do
    }
    web = cluster.layout.address("namenode-http")
    try:
        make_store(settings)
        with closing(
            happybase.Connection(HOST, cluster.layout.port("thrift"), timeout=180_000)
        ) as connection:
            yield Cluster(RowsOfHBase(connection, settings["hbase_prefix"]), settings, web)
    finally:
        FilesOfHdfs(web, urlsplit(settings["hdfs"]).path).delete("")
        drop_tables(hbase_connection(configuration_of(settings)))

"""Restores HBase tables from a backup into an empty store.

FOLDER/.backups/restoring/            completed steps: `begun.ACT`, `copied`, `made`
FOLDER/.backups/restoring/rows.…/     the tables' files, as ExportSnapshot reads them
HBase's snapshots restore-ACT.TABLE   imported, until the tables are made from them

A completed step is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import ConfigError, SchemaError
from pinakes.hbase_schema.tables import Schema
from pinakes.row_store.hbase.calls import HBaseCalls
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.hbase.wire import rows_interface
from pinakes.row_store.port import RowStore

from .cluster_places import TABLES, ClusterPlaces
from .cluster_snapshots import RESTORING
from .contents import ROWS, FileLine
from .copying import copy_listed
from .plain_names import PLAIN_SNAPSHOTS, forget_snapshots, name_for_hbase
from .stage import Stage

_BEGUN, _COPIED, _MADE = "begun.", "copied", "made"


class ClusterRestorer:
    """`RowsRestorer` into HBase.  The tables are visible while they are filled."""

    def __init__(
        self,
        places: ClusterPlaces,
        schema: Schema,
        *,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`at` is called after each step, with its name: tests end the process there."""
        self._places = places
        self._schema = schema
        self._at = at
        self._calls = HdfsCalls(places.hdfs)
        self._stage = Stage(self._calls, places.hdfs, RESTORING)

    def require_empty(self) -> None:
        if self._begun() is not None:
            return
        tables = self._tables_there()
        with closing(self._places.store(self._places.hdfs.url)) as archive:
            if tables or any(True for _ in archive.list()):
                raise ConfigError(
                    "a backup can only be restored into an empty store: there are tables "
                    f"({', '.join(tables[:3]) or 'none'}), or files in the folder",
                    file=self._places.hdfs.url,
                )

    def _begun(self) -> str | None:
        """The backup of an unfinished restore."""
        found = [mark for mark in self._stage.marks() if mark.startswith(_BEGUN)]
        return found[0].removeprefix(_BEGUN) if found else None

    def _tables_there(self) -> list[str]:
        hbase = self._places.hbase
        with closing(HBaseCalls(rows_interface, "Hbase", hbase.servers, hbase)) as calls:
            found = {name.decode() for name in calls.call(lambda c: c.getTableNames())}
        return sorted(found & {self._places.table(name) for name in TABLES})

    def restore(
        self,
        backup: ArchiveStore,
        lines: Sequence[FileLine],
        require_ours: Callable[[RowStore], None],  # steps name their backup
    ) -> None:
        prefix = f"{ROWS}/"
        rows = [line for line in lines if line.name.startswith(prefix)]
        act = _act_of(rows)
        begun = self._begun()
        if begun is None:
            self._stage.put(f"{_BEGUN}{act}")
            self._at("restoring begun")
        elif begun != act:
            raise ConfigError(f"the rows here are from another backup, {begun}")
        if self._stage.has(_MADE):
            return
        url = self._stage.rows_url()
        if not self._stage.has(_COPIED):
            folder = url.removeprefix(self._places.hdfs.server)
            forget_snapshots(self._calls, folder)
            self._copy(backup, rows, url)
            self._at("tables copied")
            name_for_hbase(self._calls, folder)
            self._at("tables named")
            self._stage.put(_COPIED)
        with self._places.hbase_client() as hbase:
            hbase.have_namespace(self._places.table(TABLES[0]))
            for table in TABLES:
                name = self._places.table(table)
                if not hbase.has_table(name):
                    hbase.import_snapshot(f"{act}.{table}", url, _imported(act, name))
                    self._at("table brought in")
                hbase.make(_imported(act, name), name)
                self._at("table made")
            for table in TABLES:
                hbase.drop(_imported(act, self._places.table(table)))
        self._stage.put(_MADE)
        self._at("tables made")

    def _copy(self, backup: ArchiveStore, rows: Sequence[FileLine], url: str) -> None:
        with closing(self._places.store(url)) as target:
            for number, line in enumerate(rows):
                name = line.name.removeprefix(f"{ROWS}/")
                copy_listed(backup, line, target, name, token=f"rows.{number}")

    def open(self) -> HBaseRowStore:
        return HBaseRowStore(self._places.hbase, self._schema)

    def finish(self) -> None:
        # The tables' remaining files belong to HBase by now.
        self._stage.remove()

    def close(self) -> None:
        """Close everything."""
        self._calls.close()


def _imported(act: str, table: str) -> str:
    """The name of an imported snapshot: names are global in the cluster."""
    return f"restore-{act}.{table.replace(':', '.')}"


def _act_of(rows: Sequence[FileLine]) -> str:
    """The backup that these tables are from: the prefix of their snapshots' names."""
    for line in rows:
        _, folder, snapshot, *_ = f"{line.name}//".split("/")
        if folder == PLAIN_SNAPSHOTS:
            return snapshot.rpartition(".")[0]
    raise SchemaError("this backup has no HBase tables", file=ROWS)

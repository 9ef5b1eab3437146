"""The cluster profile's snapshots: of HBase's tables, then of the archive's folder in HDFS.

    HBase's snapshots ACT.TABLE        the rows
    FOLDER/.snapshot/ACT/…             the archive files
    FOLDER/.backups/ACT/               completed steps: `begun`, `taken`, `exported`
    FOLDER/.backups/ACT/rows.SECRET/   the tables' files, exported

`taken` is written once the pin is known to have held: a snapshot without it is invalid.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.hdfs.errors import HdfsFileNotFound
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import ConfigError, StoreUnavailable

from .cluster_places import TABLES, ClusterPlaces
from .hbase_snapshots import HBaseSnapshots
from .stage import Stage, stage_names

RESTORING = "restoring"
_BEGUN, _TAKEN, _EXPORTED = "begun", "taken", "exported"


class ClusterSnapshots:
    """`Snapshots` of a store on HBase and HDFS.  Not for several threads."""

    def __init__(
        self, places: ClusterPlaces, *, at: Callable[[str], None] = lambda step: None
    ) -> None:
        """`at` is called after each step, with its name: tests end the process there."""
        self._places = places
        self._at = at
        self._calls = HdfsCalls(places.hdfs)
        self._open = ExitStack()
        self._client: HBaseSnapshots | None = None

    def take(self, act: str, unpin: Callable[[], None]) -> None:
        places, stage = self._places, self._stage(act)
        stage.put(_BEGUN)
        self._have_snapshots_allowed()
        self._at("stage made")
        client = self._hbase()
        for table in TABLES:
            client.take(f"{act}.{table}", places.table(table))
            self._at("table held")
        places.hadoop(["fs", "-createSnapshot", places.hdfs.url, act])
        self._at("files held")
        unpin()
        self._at("unpinned")
        stage.put(_TAKEN)
        self._at("snapshot taken")

    def _have_snapshots_allowed(self) -> None:
        """Allow snapshots of the folder, if they are not allowed yet."""
        url = self._places.hdfs.url
        if self._is_there(f"{self._places.hdfs.folder}/.snapshot"):
            return
        try:
            self._places.hadoop(["org.apache.hadoop.hdfs.tools.DFSAdmin", "-allowSnapshot", url])
        except StoreUnavailable as error:
            raise ConfigError(
                "snapshots of the archive's folder are not allowed: have an HDFS administrator "
                f"run `hdfs dfsadmin -allowSnapshot {self._places.hdfs.folder}` once ({error})",
                file=url,
            ) from error

    def is_taken(self, act: str) -> bool:
        return self._stage(act).has(_TAKEN)

    def has_sound_rows(self, act: str) -> bool:
        return True  # HBase compares its files with checksums of its own when it reads them

    def acts(self) -> list[str]:
        return [name for name in stage_names(self._calls, self._places.hdfs) if name != RESTORING]

    def archive(self, act: str) -> ArchiveStore:
        return self._opened(f"{self._places.hdfs.url.rstrip('/')}/.snapshot/{act}")

    def rows(self, act: str) -> ArchiveStore:
        stage = self._stage(act)
        url = stage.rows_url()
        if not stage.has(_EXPORTED):
            client = self._hbase()
            client.forget_snapshots(url)
            for table in TABLES:
                client.export_snapshot(f"{act}.{table}", url)
                self._at("table exported")
            client.name_plainly(url)
            stage.put(_EXPORTED)
            self._at("rows exported")
        return self._opened(url)

    def drop(self, act: str) -> None:
        client, stage = self._hbase(), self._stage(act)
        for table in TABLES:
            client.await_taken(f"{act}.{table}")
        client.drop(f"{act}.")
        self._at("tables let go")
        if self._is_there(f"{self._places.hdfs.folder}/.snapshot/{act}"):
            self._places.hadoop(["fs", "-deleteSnapshot", self._places.hdfs.url, act])
        self._at("files let go")
        if stage.has_rows():
            client.clear(stage.rows_url())
        stage.remove()
        self._at("stage removed")

    def close(self) -> None:
        """Close everything."""
        self._client = None
        self._open.close()
        self._calls.close()

    def _hbase(self) -> HBaseSnapshots:
        if self._client is None:
            self._client = self._open.enter_context(self._places.hbase_client())
        return self._client

    def _stage(self, act: str) -> Stage:
        return Stage(self._calls, self._places.hdfs, act)

    def _opened(self, url: str) -> HdfsArchiveStore:
        store = self._places.store(url)
        self._open.callback(store.close)
        return store

    def _is_there(self, path: str) -> bool:
        with suppress(HdfsFileNotFound):
            self._calls.ask(path, lambda client: client.get_file_info(path))
            return True
        return False

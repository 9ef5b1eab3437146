"""Snapshots of HBase tables: take, export, import, clone, delete.

Each call may be repeated.  HBase completes requests of a client that died: so a snapshot that is
being taken is awaited before it is deleted, and a table that is being made before it is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pinakes.errors import StoreUnavailable

from .hbase_jvm import HBaseJvm
from .plain_names import ABOUT, PLAIN_ABOUT, PLAIN_SNAPSHOTS, SNAPSHOTS

_PAUSE_S = 0.5
_LONGEST_WORK_MS = "7200000"


class HBaseSnapshots:
    """Snapshots through HBase's own client.  Not for several threads."""

    def __init__(self, jvm: HBaseJvm, *, mapreduce: str, retry_s: float) -> None:
        """`mapreduce` is where files are copied: `yarn`, or `local`, in the JVM itself."""
        self._jvm = jvm
        self._mapreduce = mapreduce
        self._retry_s = retry_s
        with jvm.asked("connecting to HBase"):
            self._settings = jvm.hbase.HBaseConfiguration.create()
            # HBase's defaults: 20 minutes for calls, too long; 10 for table operations, too short.
            self._settings.set("hbase.client.operation.timeout", str(int(retry_s * 1000)))
            self._settings.set("hbase.client.sync.wait.timeout.msec", _LONGEST_WORK_MS)
            client = jvm.hbase.client
            self._admin = client.ConnectionFactory.createConnection(self._settings).getAdmin()

    # --- tables

    def take(self, snapshot: str, table: str) -> None:
        """Take a snapshot of a table."""
        with self._jvm.asked(f"a snapshot of {table}"):
            self._admin.snapshot(snapshot, self._table(table))

    def has_table(self, table: str) -> bool:
        """Whether the table exists, or is being made."""
        with self._jvm.asked(table):
            return bool(self._admin.tableExists(self._table(table)))

    def make(self, snapshot: str, table: str) -> None:
        """Make a table from a snapshot, unless it exists, and wait until it can be used."""
        name = self._table(table)

        def is_made() -> bool:
            with self._jvm.asked(f"making {table}"):
                if self._admin.tableExists(name):
                    return bool(self._admin.isTableAvailable(name))
                self._admin.cloneSnapshot(snapshot, name)
                return bool(self._admin.isTableAvailable(name))

        self._wait_until(is_made, f"{table} was not made from {snapshot}")

    def have_namespace(self, table: str) -> None:
        """Make the namespace of a table if it does not exist."""
        with self._jvm.asked(f"the namespace of {table}"):
            namespace = self._table(table).getNamespaceAsString()
            if namespace not in list(self._admin.listNamespaces()):
                made = self._jvm.hbase.NamespaceDescriptor.create(namespace).build()
                self._admin.createNamespace(made)

    def drop(self, prefix: str) -> None:
        """Delete the snapshots with this prefix, also those that are being taken."""
        with self._jvm.asked(f"the snapshots {prefix}"):
            for known in list(self._admin.listSnapshots()):
                if str(known.getName()).startswith(prefix):
                    self._admin.deleteSnapshot(known.getName())

    def await_taken(self, snapshot: str) -> None:
        """Wait while this snapshot is being taken; it may be missing."""
        description = self._jvm.hbase.client.SnapshotDescription(snapshot)

        def is_done() -> bool:
            try:
                return bool(self._admin.isSnapshotFinished(description))
            except Exception as error:
                if "SnapshotException" in str(error):  # unknown, or failed
                    return True
                raise

        with self._jvm.asked(f"the snapshot {snapshot}"):
            self._wait_until(is_done, f"{snapshot} is still being taken")

    # --- files

    def export_snapshot(self, snapshot: str, folder: str) -> None:
        """Copy a snapshot's files to a folder; existing files are compared."""
        self._export(snapshot, "--copy-to", folder)

    def import_snapshot(self, snapshot: str, folder: str, new_name: str) -> None:
        """Copy them from such a folder into HBase's own, as a snapshot of another name."""
        with self._jvm.asked("HBase's root folder"):
            root = str(self._jvm.hbase.util.CommonFSUtils.getRootDir(self._settings).toString())
        self._export(snapshot, "--copy-from", folder, "--copy-to", root, "--target", new_name)

    def _export(self, snapshot: str, *places: str) -> None:
        jvm = self._jvm
        words = jvm.texts(["--snapshot", snapshot, "--overwrite", *places])
        with jvm.asked(f"ExportSnapshot of {snapshot}"):
            settings = jvm.hadoop.conf.Configuration(self._settings)
            settings.set("mapreduce.framework.name", self._mapreduce)
            tool = jvm.hbase.snapshot.ExportSnapshot()
            status = jvm.hadoop.util.ToolRunner.run(settings, tool, words)
        if status != 0:
            raise StoreUnavailable(f"ExportSnapshot of {snapshot} failed: {jvm.said()}")

    def name_plainly(self, folder: str) -> None:
        """Give exported files names that an archive store accepts: see `plain_names`."""
        with self._jvm.asked(folder):
            files = self._files(folder)
            old, new = self._path(folder, SNAPSHOTS), self._path(folder, PLAIN_SNAPSHOTS)
            if files.exists(old):
                files.delete(new, True)
                self._move(files, old, new)
            files.delete(self._path(new.toString(), ".tmp"), True)
            for snapshot in files.listStatus(new):
                inside = str(snapshot.getPath().toString())
                about = self._path(inside, ABOUT)
                if files.exists(about):
                    self._move(files, about, self._path(inside, PLAIN_ABOUT))

    def clear(self, folder: str) -> None:
        """Delete the contents of a folder of HDFS."""
        with self._jvm.asked(folder):
            files = self._files(folder)
            for found in files.listStatus(self._path(folder)):
                files.delete(found.getPath(), True)

    def forget_snapshots(self, folder: str) -> None:
        """Delete the metadata of exported snapshots; the large files stay."""
        with self._jvm.asked(folder):
            for name in (SNAPSHOTS, PLAIN_SNAPSHOTS):
                self._files(folder).delete(self._path(folder, name), True)

    # ---

    def _move(self, files: Any, old: Any, new: Any) -> None:
        if not files.rename(old, new):
            raise StoreUnavailable(f"{old.toString()} cannot be renamed")

    def _files(self, folder: str) -> Any:
        return self._path(folder).getFileSystem(self._settings)

    def _path(self, *parts: str) -> Any:
        return self._jvm.hadoop.fs.Path(*parts)

    def _table(self, name: str) -> Any:
        return self._jvm.hbase.TableName.valueOf(name)

    def _wait_until(self, condition: Callable[[], bool], problem: str) -> None:
        give_up = time.monotonic() + self._retry_s
        while True:
            failure: StoreUnavailable | None = None
            try:
                if condition():
                    return
            except StoreUnavailable as error:
                failure = error
            if time.monotonic() > give_up:
                raise failure or StoreUnavailable(problem)
            time.sleep(_PAUSE_S)

"""Loads files of rows into HBase tables with HBase's own tools.

    local files ─▶ FOLDER/NAME/TABLE/*.gz ─ImportTsv▶ FOLDER/NAME/SECRET.TABLE ─▶ the table

FOLDER is in the same HDFS as HBase: a load renames files.  Everything is below one folder per load.
HFiles may be moved by everybody, because HBase's servers run as another user; they are protected
by a folder that others can traverse but not list, and a name in it that no one can guess.

A load may be repeated, whole or in parts: the same rows with the same timestamps are the same
cells.  Until it ends, some rows exist and others do not.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinakes.errors import StoreUnavailable
from pinakes.hadoop_tools import HadoopTools, run_tool
from pinakes.row_store.bulk_text import BulkTable

from .connection import HBaseConnection

SUFFIX = ".gz"
"""The suffix of files: Hadoop decompresses by it."""

_IMPORT = "org.apache.hadoop.hbase.mapreduce.ImportTsv"
_CODECS = re.compile(r"(hbase-compression-|zstd-jni|aircompressor)[^/]*\.jar\Z")
_FILES_IN_ONE_CALL = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkLoading:
    """How rows are loaded in bulk.

    `folder` is in HDFS, and made if missing.  `mapreduce` is where HFiles are made:
    `yarn`, or `local`, in the client's own process.  `processes` bounds the second.
    """

    tools: HadoopTools
    connection: HBaseConnection
    folder: str = "/tmp/pinakes-bulk"
    mapreduce: str = "yarn"
    processes: int = 1


class BulkLoad:
    """One load, from files to rows."""

    def __init__(
        self,
        loading: BulkLoading,
        name: str,
        *,
        on_line: Callable[[str], None] = lambda line: None,
        meanwhile: Callable[[], None] = lambda: None,
        every_s: float = 60.0,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`name` is the unique name of the load's folder.

        `meanwhile` is called every `every_s` seconds, and may raise to end the load.  `on_line`
        and `every_s`: see `run_tool`.  `at` is called after each step.
        """
        self._loading = loading
        self._folder = f"{loading.folder.rstrip('/')}/{name}"
        self._secret = secrets.token_hex(16)
        self._on_line = on_line
        self._meanwhile = meanwhile
        self._every_s = every_s
        self._at = at

    def load(self, parts: Mapping[BulkTable, Sequence[Path]]) -> None:
        """Load these files, of lines as `BulkTable` encodes them, compressed.

        Raises:
            StoreUnavailable: a tool failed; some rows may have been loaded.
            ConfigError: a tool was not found.
        """
        tables = {table: files for table, files in parts.items() if files}
        if not tables:
            return
        try:
            self._upload(tables)
            self._at("in hdfs")
            for table in tables:
                self._make_hfiles(table)
            self._at("hfiles")
            for table in tables:
                self._load(table)
                self._at(f"loaded {table.name}")
        except BaseException:
            self._clear_away()
            raise
        self.remove()

    def remove(self) -> None:
        """Delete what is left of a load."""
        self._hadoop("fs", "-rm", "-r", "-f", "-skipTrash", self._folder)

    def _clear_away(self) -> None:
        """Delete it after a failure, without raising: the failure is what is reported."""
        try:
            self.remove()
        except StoreUnavailable as error:
            self._on_line(f"{self._folder} could not be deleted: {error}")

    def _upload(self, tables: Mapping[BulkTable, Sequence[Path]]) -> None:
        folders = [self._of(table) for table in tables]
        self._hadoop("fs", "-mkdir", "-p", *folders)
        # Others cannot list it, so no one learns the name; but they may traverse it.
        self._hadoop("fs", "-chmod", "711", self._folder)
        for folder, files in zip(folders, tables.values(), strict=True):
            for first in range(0, len(files), _FILES_IN_ONE_CALL):
                some = files[first : first + _FILES_IN_ONE_CALL]
                # By bare names, from their folder: Hadoop treats * and [ in a path as patterns.
                words = ("fs", "-put", *(file.name for file in some), folder)
                self._run(self._loading.tools.hadoop, words, some[0].parent)

    def _make_hfiles(self, table: BulkTable) -> None:
        loading = self._loading
        options = {
            "mapreduce.framework.name": loading.mapreduce,
            "mapreduce.job.name": f"pinakes bulk load of {table.name}",
            "mapreduce.map.speculative": "false",
            "mapreduce.reduce.speculative": "false",
            "hbase.fs.tmp.dir": f"{self._folder}/tmp",
            "importtsv.columns": table.import_columns,
            "importtsv.bulk.output": self._hfiles(table),
            "importtsv.skip.bad.lines": "false",
            "create.table": "no",
        }
        jars: list[str] = []
        if loading.mapreduce == "local":
            options["mapreduce.local.map.tasks.maximum"] = str(loading.processes)
            options["mapreduce.local.reduce.tasks.maximum"] = str(loading.processes)
        else:
            codecs = self._codec_jars()
            jars = ["-libjars", ",".join(codecs)] if codecs else []
        settings = [f"-D{name}={value}" for name, value in options.items()]
        self._hbase(_IMPORT, *settings, *jars, self._table(table), self._of(table))
        self._hadoop("fs", "-chmod", "-R", "777", self._hfiles(table))

    def _codec_jars(self) -> list[str]:
        """The jars of the families' compression codecs, which HBase does not ship to its jobs."""
        found = []
        for entry in self._hbase("classpath").strip().split(":"):
            jars = glob.glob(f"{entry}.jar") if entry.endswith("/*") else [entry]
            found += [jar for jar in jars if _CODECS.search(os.path.basename(jar))]
        return sorted(set(found))

    def _load(self, table: BulkTable) -> None:
        self._hbase("completebulkload", self._hfiles(table), self._table(table))

    def _of(self, table: BulkTable) -> str:
        return f"{self._folder}/{table.name}"

    def _hfiles(self, table: BulkTable) -> str:
        return f"{self._folder}/{self._secret}.{table.name}"

    def _table(self, table: BulkTable) -> str:
        return self._loading.connection.table(table.name).decode("ascii")

    def _hbase(self, *words: str) -> str:
        return self._run(self._loading.tools.hbase, words)

    def _hadoop(self, *words: str) -> str:
        return self._run(self._loading.tools.hadoop, words)

    def _run(self, command: Sequence[str], words: Sequence[str], folder: Path | None = None) -> str:
        # In an empty folder: Hadoop leaves links in the working directory.
        with tempfile.TemporaryDirectory(prefix="pinakes-tool-") as empty:
            return run_tool(
                [*command, *words],
                folder=folder or Path(empty),
                on_line=self._on_line,
                meanwhile=self._meanwhile,
                every_s=self._every_s,
            )


def list_loads(loading: BulkLoading) -> list[str]:
    """The names of loads with a folder, running or abandoned."""
    try:
        listed = run_tool([*loading.tools.hadoop, "fs", "-ls", "-C", loading.folder])
    except StoreUnavailable as error:
        if "No such file" in str(error):
            return []
        raise
    return [line.rpartition("/")[2] for line in listed.splitlines() if "/" in line]

"""How the backup of a store on a cluster reaches it: servers, commands, names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.hadoop_tools import HadoopTools, run_tool
from pinakes.row_store.hbase.connection import HBaseConnection
from pinakes.row_store.hbase.own_table import OWN_TABLE

from .hbase_jvm import open_jvm
from .hbase_snapshots import HBaseSnapshots

TABLES = (
    *("captures", "digests", "qa_pairs"),
    *("crawls", "files", "inflight", "runs"),
    OWN_TABLE.name,
)
"""The order in which tables are snapshotted: see `port`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlaces:
    """A value, made from the configuration."""

    hbase: HBaseConnection
    hdfs: HdfsConnection
    tools: HadoopTools
    mapreduce: str
    """`yarn`, or `local`: in the JVM that copies the tables' files."""

    def table(self, name: str) -> str:
        """A table's name in HBase."""
        return self.hbase.table(name).decode("ascii")

    def store(self, url: str) -> HdfsArchiveStore:
        """An archive store in another folder of the same HDFS."""
        return HdfsArchiveStore(replace(self.hdfs, url=url))

    @contextmanager
    def hbase_client(self) -> Iterator[HBaseSnapshots]:
        """HBase's own client, in a JVM that ends with the block."""
        with open_jvm(self.tools.hbase) as jvm:
            yield HBaseSnapshots(jvm, mapreduce=self.mapreduce, retry_s=self.hbase.retry_s)

    def hadoop(self, words: Sequence[str]) -> None:
        """Run the command `hadoop`."""
        run_tool([*self.tools.hadoop, *words])

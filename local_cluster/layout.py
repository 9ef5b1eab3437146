"""The paths and ports of one cluster.

    FOLDER/cluster.json     base port, and which servers are wanted
    FOLDER/bin/             the commands hbase, hadoop, hdfs; rewritten by every `up`
    FOLDER/conf/            configuration of servers and clients; rewritten by every `up`
    FOLDER/data/            data of name node, data nodes, ZooKeeper
    FOLDER/logs/            per server, a log and its standard output
    FOLDER/run/             one file per started process
    FOLDER/tmp/

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

HOST = "127.0.0.1"
DATA_NODES = 3

PORTS = (
    "namenode",
    "namenode-http",
    *(f"datanode{n}{part}" for n in range(1, DATA_NODES + 1) for part in ("", "-http", "-ipc")),
    "zookeeper",
    "master",
    "master-http",
    "regionserver",
    "regionserver-http",
    "thrift",
    "thrift-http",
    "thrift2",
    "thrift2-http",
    "resourcemanager",
    "resourcemanager-scheduler",
    "resourcemanager-tracker",
    "resourcemanager-admin",
    "resourcemanager-http",
    "nodemanager",
    "nodemanager-localizer",
    "nodemanager-http",
    "nodemanager-shuffle",
)
"""The use of each port: the base port is the first, the others follow in order."""

PORT_BLOCK = 40
"""Distance of two base ports; leaves some room for more servers."""

PARTS = MappingProxyType(
    {"yarn": ("resourcemanager", "nodemanager"), "thrift2": ("thrift2",)},
)
"""Optional parts of a cluster, and their servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A folder (absolute), a base port, the parts it has (of `PARTS`); the rest follows."""

    folder: Path
    base_port: int
    parts: frozenset[str] = frozenset({"yarn"})

    def __post_init__(self) -> None:
        if not self.folder.is_absolute():
            raise ValueError(f"{self.folder} is not absolute")
        if not self.parts <= PARTS.keys():
            raise ValueError(f"unknown part {', '.join(sorted(self.parts - PARTS.keys()))}")
        if not 1024 <= self.base_port <= 65536 - PORT_BLOCK:
            raise ValueError(f"invalid base port {self.base_port}: 1024 to {65536 - PORT_BLOCK}")

    def port(self, name: str) -> int:
        """The port of this name; ValueError if it is unknown."""
        return self.base_port + PORTS.index(name)

    def address(self, name: str) -> str:
        """`host:port`."""
        return f"{HOST}:{self.port(name)}"

    @property
    def conf(self) -> Path:
        """Configuration of the servers, and of clients (`HADOOP_CONF_DIR`)."""
        return self.folder / "conf"

    @property
    def bin(self) -> Path:
        """The commands `hbase`, `hadoop`, `hdfs`."""
        return self.folder / "bin"

    @property
    def data(self) -> Path:
        """Data of the servers."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """`SERVER.log`, written by log4j, and `SERVER.out`."""
        return self.folder / "logs"

    @property
    def run(self) -> Path:
        """One file per started process."""
        return self.folder / "run"

    @property
    def tmp(self) -> Path:
        """Temporary files of the servers."""
        return self.folder / "tmp"

    def data_uri(self, name: str) -> str:
        """A folder in `data`, as a URI for Hadoop."""
        return (self.data / name).as_uri()

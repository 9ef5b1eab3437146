"""Where everything of one cluster lies: its folder, and its ports.

    FOLDER/cluster.json     base port, and which servers are wanted
    FOLDER/bin/             the commands hbase, hadoop, hdfs; written anew by every `up`
    FOLDER/conf/            what servers and clients read; written anew by every `up`
    FOLDER/data/            what they hold: name node, data nodes, ZooKeeper
    FOLDER/logs/            a log each, and what went to standard output
    FOLDER/run/             a file each for the processes that were started
    FOLDER/tmp/

Pure: opens and asks nothing.
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
"""What each port is for: the base port is the first, the others follow it one by one."""

PORT_BLOCK = 40
"""Ports from one base to the next; a little room for servers to come."""

PARTS = MappingProxyType(
    {"yarn": ("resourcemanager", "nodemanager"), "thrift2": ("thrift2",)},
)
"""What a cluster can have or do without, and the servers that it takes."""


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
            raise ValueError(f"there is no part {', '.join(sorted(self.parts - PARTS.keys()))}")
        if not 1024 <= self.base_port <= 65536 - PORT_BLOCK:
            raise ValueError(f"{self.base_port} is no base port: 1024 to {65536 - PORT_BLOCK}")

    def port(self, name: str) -> int:
        """The port of this name; ValueError where there is none."""
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
        """What the servers hold."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """`SERVER.log`, written by log4j, and `SERVER.out`."""
        return self.folder / "logs"

    @property
    def run(self) -> Path:
        """A file for each process that was started."""
        return self.folder / "run"

    @property
    def tmp(self) -> Path:
        """Temporary files of the servers."""
        return self.folder / "tmp"

    def data_uri(self, name: str) -> str:
        """A folder in `data` as Hadoop wants it."""
        return (self.data / name).as_uri()

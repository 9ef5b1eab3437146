"""The servers of a cluster: one table, in reverse order of stopping.

Pure.  Heaps and JVM options are for development: small, and quick to start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from local_cluster.layout import DATA_NODES, HOST, PARTS, Layout
from local_cluster.site_files import THRIFT

_OPENED = (
    "java.lang",
    "java.lang.reflect",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "jdk.internal.ref",
    "sun.nio.ch",
)
"""Packages of java.base that Hadoop and HBase access, and JDK 17 closes."""

JVM = (
    "--add-modules=jdk.unsupported",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
)
"""Options of every JVM: of the servers, and of the commands."""

SERIAL = ("-XX:+UseSerialGC",)
"""The collector for whatever is small or short-lived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """One server: its class, and its memory.

    `step` is the stopping order: all servers of a step at once, after those of later steps.
    `is_hot` servers are compiled for speed, the others for a quick start.
    """

    name: str
    step: int
    main_class: str
    jars: str
    heap_mb: int
    ports: tuple[str, ...]
    arguments: Callable[[Layout], tuple[str, ...]] = lambda _: ()
    is_hot: bool = False
    collector: tuple[str, ...] = SERIAL
    """JVM options: which collector of garbage."""
    own_settings: str = ""
    """A subfolder of the configuration whose files replace those of the same name."""

    @property
    def archive(self) -> str:
        """The server whose class archive this one shares."""
        return "datanode1" if self.name.startswith("datanode") else self.name


def _data_node(number: int) -> Daemon:
    name = f"datanode{number}"
    return Daemon(
        name=name,
        step=1,
        main_class="org.apache.hadoop.hdfs.server.datanode.DataNode",
        jars="hadoop",
        heap_mb=256,
        ports=(name, f"{name}-http", f"{name}-ipc"),
        arguments=lambda layout: (
            f"-Ddfs.datanode.data.dir={layout.data_uri(name)}",
            f"-Ddfs.datanode.address={layout.address(name)}",
            f"-Ddfs.datanode.http.address={layout.address(f'{name}-http')}",
            f"-Ddfs.datanode.ipc.address={layout.address(f'{name}-ipc')}",
        ),
    )


def _thrift(name: str, package: str, *, own_settings: str = "") -> Daemon:
    return Daemon(
        name=name,
        step=5,
        main_class=f"org.apache.hadoop.hbase.{package}.ThriftServer",
        jars="hbase",
        heap_mb=512,
        ports=(name, f"{name}-http"),
        arguments=lambda layout: (
            *("start", "-b", HOST, "-p", str(layout.port(name))),
            *("--infoport", str(layout.port(f"{name}-http"))),
        ),
        is_hot=True,
        own_settings=own_settings,
    )


_TABLE = (
    Daemon(
        name="namenode",
        step=0,
        main_class="org.apache.hadoop.hdfs.server.namenode.NameNode",
        jars="hadoop",
        heap_mb=256,
        ports=("namenode", "namenode-http"),
    ),
    *(_data_node(number) for number in range(1, DATA_NODES + 1)),
    Daemon(
        name="zookeeper",
        step=2,
        main_class="org.apache.zookeeper.server.quorum.QuorumPeerMain",
        jars="hbase",
        heap_mb=128,
        ports=("zookeeper",),
        arguments=lambda layout: (str(layout.conf / "zoo.cfg"),),
    ),
    Daemon(
        name="resourcemanager",
        step=2,
        main_class="org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
        jars="hadoop",
        heap_mb=256,
        ports=(
            "resourcemanager",
            *(f"resourcemanager-{part}" for part in ("scheduler", "tracker", "admin", "http")),
        ),
    ),
    Daemon(
        name="nodemanager",
        step=2,
        main_class="org.apache.hadoop.yarn.server.nodemanager.NodeManager",
        jars="hadoop",
        heap_mb=256,
        ports=(
            "nodemanager",
            *(f"nodemanager-{part}" for part in ("localizer", "http", "shuffle")),
        ),
    ),
    Daemon(
        name="master",
        step=3,
        main_class="org.apache.hadoop.hbase.master.HMaster",
        jars="hbase",
        heap_mb=384,
        ports=("master", "master-http"),
        arguments=lambda _: ("start",),
    ),
    Daemon(
        name="regionserver",
        step=4,
        main_class="org.apache.hadoop.hbase.regionserver.HRegionServer",
        jars="hbase",
        heap_mb=1536,
        ports=("regionserver", "regionserver-http"),
        arguments=lambda _: ("start",),
        is_hot=True,
        # The serial one stops one large look-up in twenty for a third of a second.  Of regions of
        # 1 MB, the default here, HBase's chunks of 2 MB take three each.
        collector=("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=50", "-XX:G1HeapRegionSize=8m"),
    ),
    _thrift("thrift", "thrift", own_settings=THRIFT),
    _thrift("thrift2", "thrift2"),
)

DAEMONS = MappingProxyType({daemon.name: daemon for daemon in _TABLE})
"""All possible servers, by name."""


def wanted_daemons(layout: Layout) -> tuple[Daemon, ...]:
    """The servers of this cluster, in the order of the table."""
    absent = {name for part, names in PARTS.items() if part not in layout.parts for name in names}
    return tuple(daemon for daemon in DAEMONS.values() if daemon.name not in absent)


def command(
    daemon: Daemon, layout: Layout, java: Path, options: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command line, with these JVM options added; the class path is in the environment."""
    compiler = () if daemon.is_hot else ("-XX:TieredStopAtLevel=1",)
    return (
        str(java),
        f"-Xmx{daemon.heap_mb}m",
        *compiler,
        *daemon.collector,
        *JVM,
        *options,
        f"-Djava.io.tmpdir={layout.tmp}",
        f"-XX:ErrorFile={layout.logs / f'{daemon.name}.crash'}",
        f"-Dlog4j.configuration={(layout.conf / 'log4j.properties').as_uri()}",
        f"-Dpinakes.log={layout.logs / f'{daemon.name}.log'}",
        daemon.main_class,
        *daemon.arguments(layout),
    )

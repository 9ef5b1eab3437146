"""What the servers read: core-site, hdfs-site, yarn-site, mapred-site, hbase-site, zoo.cfg, log4j.

Pure: from a `Layout` to texts.  Each setting that is not plain says why it is there; what
was tried and failed is in docs/cluster.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from local_cluster.layout import HOST, Layout

REPLICATION = 2
"""Copies of each block: one data node may be lost, and there is a third to copy to."""

WEB_APPS = ("datanode", "hdfs", "secondary")
"""Folders `webapps/NAME` that Hadoop's web servers want to see, if only empty."""

THRIFT = "thrift"
"""The folder of what the Thrift server of rows reads before the rest."""

TOOLS_LOG4J = "log4j-tools.properties"
"""What the commands (`commands.py`) log by: to standard error."""


def site_files(layout: Layout, hadoop_jars: Path, user: str) -> dict[str, str]:
    """The files of `layout.conf` by name.

    `hadoop_jars` is for YARN's containers; `user` is whom the servers run as.
    """
    return {
        "core-site.xml": _xml(_core(layout)),
        "hdfs-site.xml": _xml(_hdfs(layout, user)),
        "yarn-site.xml": _xml(_yarn(layout, hadoop_jars)),
        "mapred-site.xml": _xml(_mapreduce(layout, hadoop_jars)),
        "hbase-site.xml": _xml(_hbase(layout)),
        f"{THRIFT}/hbase-site.xml": _xml({**_hbase(layout), **_HBASE_OF_THRIFT}),
        "zoo.cfg": _lines(_zookeeper(layout)),
        "log4j.properties": _lines(_LOG4J),
        TOOLS_LOG4J: _lines(_LOG4J_OF_TOOLS),
    }


def _core(layout: Layout) -> dict[str, object]:
    return {
        "fs.defaultFS": f"hdfs://{layout.address('namenode')}",
        "hadoop.tmp.dir": layout.tmp,
        # No group look-up by a shell command for each user.
        "hadoop.security.group.mapping": "org.apache.hadoop.security.JniBasedUnixGroupsMapping"
        "WithFallback",
    }


def _hdfs(layout: Layout, user: str) -> dict[str, object]:
    return {
        "dfs.replication": REPLICATION,
        "dfs.namenode.name.dir": layout.data_uri("namenode"),
        "dfs.namenode.rpc-address": layout.address("namenode"),
        "dfs.namenode.http-address": layout.address("namenode-http"),
        # Data nodes come by address: loopback has no reverse look-up everywhere.
        "dfs.namenode.datanode.registration.ip-hostname-check": False,
        "dfs.datanode.hostname": HOST,
        "dfs.webhdfs.enabled": True,
        "dfs.namenode.safemode.extension": 0,
        # With 0.999 of a few blocks it would leave safe mode before it knows where all are.
        "dfs.namenode.safemode.threshold-pct": "1.0",
        # A dead data node is known for dead after 2 * recheck + 10 * heartbeat = 20 s.
        "dfs.heartbeat.interval": 1,
        "dfs.namenode.heartbeat.recheck-interval": 5000,
        # Readers and writers avoid a node that was silent for so long.
        "dfs.namenode.avoid.read.stale.datanode": True,
        "dfs.namenode.avoid.write.stale.datanode": True,
        "dfs.namenode.stale.datanode.interval": 3000,
        # Else a data node that comes back waits ten minutes to send its blocks.
        "dfs.blockreport.initialDelay": 0,
        # Else the first call of every client after a restart of the name node fails: HBase's,
        # and data nodes' that answer for WebHDFS.  Pauses in ms and how many of them.
        "dfs.client.retry.policy.enabled": True,
        "dfs.client.retry.policy.spec": "500,10,2000,30",
        # Of two copies, by default, one that is lost while it is written is not replaced: the log
        # that the master, or a region server, has open shrinks to one, and is lost with that.
        "dfs.client.block.write.replace-datanode-on-failure.policy": "ALWAYS",
        "dfs.client.block.write.replace-datanode-on-failure.best-effort": True,
        # Who writes nothing sees a lost data node at the next of its beats, two in this time.
        "dfs.client.socket-timeout": 20_000,
        "dfs.namenode.replication.max-streams": 8,
        "dfs.namenode.redundancy.interval.seconds": 1,
        "dfs.datanode.max.transfer.threads": 512,
        "dfs.namenode.handler.count": 8,
        "dfs.datanode.handler.count": 4,
        # Room is what the disk has; HDFS's own reserve would fill small test machines.
        "dfs.datanode.du.reserved": 0,
        # Who may ask where the file of a block is: the region server.
        "dfs.block.local-path-access.user": user,
    }


def _yarn(layout: Layout, hadoop_jars: Path) -> dict[str, object]:
    return {
        "yarn.resourcemanager.hostname": HOST,
        "yarn.resourcemanager.address": layout.address("resourcemanager"),
        "yarn.resourcemanager.scheduler.address": layout.address("resourcemanager-scheduler"),
        "yarn.resourcemanager.resource-tracker.address": layout.address("resourcemanager-tracker"),
        "yarn.resourcemanager.admin.address": layout.address("resourcemanager-admin"),
        "yarn.resourcemanager.webapp.address": layout.address("resourcemanager-http"),
        # Else a node manager waits half a minute to look for a new resource manager.
        "yarn.resourcemanager.connect.retry-interval.ms": 1000,
        "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager."
        "scheduler.fifo.FifoScheduler",
        # What is allocated goes out with a heartbeat: at one a second, seconds a task.
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
        "yarn.nodemanager.hostname": HOST,
        "yarn.nodemanager.address": layout.address("nodemanager"),
        "yarn.nodemanager.localizer.address": layout.address("nodemanager-localizer"),
        "yarn.nodemanager.webapp.address": layout.address("nodemanager-http"),
        "yarn.nodemanager.local-dirs": layout.data / "nodemanager",
        "yarn.nodemanager.log-dirs": layout.logs / "containers",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred."
        "ShuffleHandler",
        "yarn.nodemanager.resource.memory-mb": 4096,
        "yarn.nodemanager.resource.cpu-vcores": 4,
        "yarn.scheduler.minimum-allocation-mb": 256,
        # What a container really takes is checked, as anywhere else; addresses are no memory.
        "yarn.nodemanager.pmem-check-enabled": True,
        "yarn.nodemanager.vmem-check-enabled": False,
        # So that the log of a failed task can be asked for.
        "yarn.log-aggregation-enable": True,
        # By default a node with a disk 90% full takes no jobs, and says so nowhere near.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
        "yarn.application.classpath": f"{layout.conf}:{hadoop_jars}/*",
    }


def _mapreduce(layout: Layout, hadoop_jars: Path) -> dict[str, object]:
    opened = "--add-opens java.base/java.lang=ALL-UNNAMED"
    # Beside whatever options a job names: its processes live for seconds.
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{layout.conf}:{hadoop_jars}/*",
        "mapreduce.shuffle.port": layout.port("nodemanager-shuffle"),
        "yarn.app.mapreduce.am.staging-dir": "/tmp/staging",
        "yarn.app.mapreduce.am.resource.mb": 768,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
        "yarn.app.mapreduce.am.admin-command-opts": quick,
        "mapreduce.admin.map.child.java.opts": quick,
        "mapreduce.admin.reduce.child.java.opts": quick,
        "yarn.app.mapreduce.am.command-opts": f"-Xmx384m {opened}",
        "mapreduce.map.memory.mb": 768,
        "mapreduce.map.java.opts": f"-Xmx384m {opened}",
        "mapreduce.reduce.memory.mb": 768,
        "mapreduce.reduce.java.opts": f"-Xmx384m {opened}",
    }


def _hbase(layout: Layout) -> dict[str, object]:
    return {
        "hbase.cluster.distributed": True,
        "hbase.rootdir": f"hdfs://{layout.address('namenode')}/hbase",
        "hbase.tmp.dir": layout.tmp / "hbase",
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": layout.port("zookeeper"),
        # The bare hbase-thrift jar calls itself 2.6.1, the others 2.6.1-hadoop3.
        "hbase.defaults.for.version.skip": True,
        # The families' compression; HBase's default codec wants a native library of Hadoop's.
        "hbase.io.compress.zstd.codec": "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec",
        # The other provider, asyncfs, aborted master and region server when two data nodes
        # were lost one after the other.
        "hbase.wal.provider": "filesystem",
        "hbase.wal.hsync": True,
        "hbase.hfile.hsync": True,
        "hbase.unsafe.stream.capability.enforce": True,
        "hbase.wal.dir.perms": "700",
        "hbase.master.port": layout.port("master"),
        "hbase.master.info.port": layout.port("master-http"),
        "hbase.master.hostname": HOST,
        "hbase.master.ipc.address": HOST,
        "hbase.master.info.bindAddress": HOST,
        "hbase.master.wait.on.regionservers.mintostart": 1,
        "hbase.master.wait.on.regionservers.maxtostart": 1,
        # By default they look for each other every few seconds.
        "hbase.master.wait.on.regionservers.interval": 200,
        "hbase.regionserver.msginterval": 1000,
        "hbase.regionserver.port": layout.port("regionserver"),
        "hbase.regionserver.info.port": layout.port("regionserver-http"),
        "hbase.unsafe.regionserver.hostname": HOST,
        "hbase.regionserver.ipc.address": HOST,
        "hbase.regionserver.info.bindAddress": HOST,
        "hbase.thrift.info.bindAddress": HOST,
        "zookeeper.session.timeout": 15000,
        "hbase.regionserver.handler.count": 12,
        # Snapshots, which `pinakes backup` takes.
        "hbase.snapshot.enabled": True,
        # Blocks are read from the data nodes' files: large look-ups take four tenths less.  The
        # newer way needs Hadoop's native library, which no jar has.
        "dfs.client.read.shortcircuit": True,
        "dfs.client.use.legacy.blockreader.local": True,
    }


_HBASE_OF_THRIFT = {
    # As a client of region servers it tries for up to 20 minutes by default.  We give a call up
    # after 30 s (`hbase_timeout_s`) and send it again: each would go on beside the one before.
    # In ms.  (As `-D` on its command line these have no effect in HBase 2.6.)
    "hbase.client.operation.timeout": 20_000,
    "hbase.client.meta.operation.timeout": 20_000,
    "hbase.client.meta.scanner.timeout.period": 5_000,
    "hbase.client.scanner.timeout.period": 20_000,
    "hbase.client.retries.number": 2,
    "hbase.rpc.timeout": 10_000,
}


def _zookeeper(layout: Layout) -> tuple[str, ...]:
    return (
        f"dataDir={layout.data / 'zookeeper'}",
        f"clientPort={layout.port('zookeeper')}",
        f"clientPortAddress={HOST}",
        "admin.enableServer=false",
        "tickTime=1000",
        # 15 s is what HBase asks for, and ZooKeeper gives 20 ticks at most by default.
        "maxSessionTimeout=60000",
        "maxClientCnxns=300",
        "4lw.commands.whitelist=srvr",
        "autopurge.snapRetainCount=3",
        "autopurge.purgeInterval=1",
    )


_LOG4J = (
    "log4j.rootLogger=INFO,file",
    "log4j.appender.file=org.apache.log4j.RollingFileAppender",
    "log4j.appender.file.File=${pinakes.log}",
    "log4j.appender.file.MaxFileSize=10MB",
    "log4j.appender.file.MaxBackupIndex=2",
    "log4j.appender.file.layout=org.apache.log4j.PatternLayout",
    "log4j.appender.file.layout.ConversionPattern=%d{ISO8601} %p [%t] %c{2}: %m%n",
    "log4j.logger.org.apache.hadoop.hdfs.StateChange=WARN",
    "log4j.logger.BlockStateChange=WARN",
)

_LOG4J_OF_TOOLS = (
    "log4j.rootLogger=INFO,err",
    "log4j.appender.err=org.apache.log4j.ConsoleAppender",
    "log4j.appender.err.target=System.err",
    "log4j.appender.err.layout=org.apache.log4j.PatternLayout",
    "log4j.appender.err.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n",
    # Of a native library that no jar has.
    "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR",
    "log4j.logger.org.apache.zookeeper=WARN",
)


def _xml(settings: Mapping[str, object]) -> str:
    return _lines(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<configuration>",
            *(
                f"  <property><name>{name}</name><value>{_value(value)}</value></property>"
                for name, value in settings.items()
            ),
            "</configuration>",
        )
    )


def _value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return escape(text)


def _lines(lines: tuple[str, ...]) -> str:
    return "\n".join(lines) + "\n"

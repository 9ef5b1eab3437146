"""The settings of Pinakes as a client of a cluster: `conf/pinakes.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from local_cluster.layout import Layout
from pinakes.errors import ConfigError


def client_settings(
    layout: Layout, name: str = "pinakes", *, jobs: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """A store's settings: the prefix of its tables is `NAME:`, its files are in HDFS at `/NAME`.

    `jobs` are those of `job_settings`.
    """
    admin = {"hbase_admin": layout.address("thrift2")} if "thrift2" in layout.parts else {}
    return {
        "profile": "cluster",
        "hbase": layout.address("thrift"),
        **admin,
        "hbase_prefix": f"{name}:",
        "hbase_command": str(layout.bin / "hbase"),
        "hadoop_command": str(layout.bin / "hadoop"),
        "hdfs": f"hdfs://{layout.address('namenode')}/{name}",
        "hdfs_web": f"http://{layout.address('namenode-http')}",
        "hdfs_config": str(layout.conf),
        **jobs,
    }


def job_settings(hadoop_jars: Path, python: Path) -> dict[str, str]:
    """Settings of jobs on this host; `Raises` ConfigError without the streaming jar."""
    found = sorted(hadoop_jars.glob("hadoop-streaming-*.jar"))
    if not found:
        raise ConfigError(f"there is no hadoop-streaming jar in {hadoop_jars}")
    return {"job_streaming_jar": str(found[-1]), "job_python": str(python)}

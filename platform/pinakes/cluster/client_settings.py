"""The settings by which Pinakes itself is a client of a cluster: `conf/pinakes.toml`.

Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pinakes.cluster.layout import Layout


def client_settings(layout: Layout, name: str = "pinakes") -> dict[str, str]:
    """A store's settings: its tables begin with `NAME:`, and `/NAME` in HDFS has its files."""
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
    }


def settings_file(settings: Mapping[str, str]) -> str:
    """As `pinakes.toml` has them.  A JSON string is a TOML string, too."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())

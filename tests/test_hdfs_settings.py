"""From settings to what the HDFS adapter is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.config import load_configuration
from pinakes.errors import ConfigError
from pinakes.profile import hdfs_connection


def connection(**options: str) -> HdfsConnection:
    return hdfs_connection(load_configuration(options=options, environment={}, folder=Path("/")))


@pytest.mark.parametrize(
    ("url", "server", "folder"),
    [
        ("hdfs://nn:8020/archive", "hdfs://nn:8020", "/archive"),
        ("hdfs://nn/a/b/", "hdfs://nn", "/a/b"),
        ("hdfs:///archive", "hdfs://", "/archive"),
        ("viewfs://mounts/archive", "viewfs://mounts", "/archive"),
    ],
)
def test_one_setting_is_enough(url: str, server: str, folder: str) -> None:
    made = connection(hdfs=url)
    assert made == HdfsConnection(url=url)
    assert (made.server, made.folder) == (server, folder)


def test_every_setting_arrives() -> None:
    assert connection(
        hdfs="hdfs://nn/a",
        hdfs_web="http://nn1:9870, https://nn2:9871/",
        hdfs_config="/etc/hadoop",
        hdfs_principal="me@REALM",
        hdfs_keytab="/me.keytab",
        hdfs_ticket_cache="/tickets",
        hdfs_replication="3",
        hdfs_block_bytes="64 MiB",
        hdfs_retry_s="9",
    ) == HdfsConnection(
        url="hdfs://nn/a",
        web=("http://nn1:9870", "https://nn2:9871"),
        config_folder=Path("/etc/hadoop"),
        principal="me@REALM",
        keytab=Path("/me.keytab"),
        ticket_cache=Path("/tickets"),
        replication=3,
        block_bytes=64 << 20,
        retry_s=9.0,
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hdfs": "nn:8020/archive"},
        {"hdfs": "hdfs://nn:8020"},
        {"hdfs": "hdfs://nn:8020/"},
        {"hdfs": "hdfs://nn/a/../b"},
        {"hdfs": "hdfs://nn/a//b"},
        {"hdfs": "http://nn/a"},
        {"hdfs": "hdfs://nn/a", "hdfs_web": "nn:9870"},
        {"hdfs": "hdfs://nn/a", "hdfs_web": "http://nn:9870/webhdfs/v1"},
        {"hdfs": "hdfs://nn/a", "hdfs_keytab": "/me.keytab"},
        {"hdfs": "hdfs://nn/a", "hdfs_replication": "0"},
        {"hdfs": "hdfs://nn/a", "hdfs_retry_s": "never"},
    ],
    ids=str,
)
def test_what_is_wrong_is_named(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"hdfs|HDFS|principal"):
        connection(**options)

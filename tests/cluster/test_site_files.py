"""What the servers read says what the layout says."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

from local_cluster.client_settings import client_settings
from local_cluster.layout import PORTS, Layout
from local_cluster.site_files import site_files
from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.config import format_settings, load_configuration
from pinakes.profile import hbase_connection, hdfs_connection
from pinakes.row_store.hbase.connection import HBaseConnection, Server

JARS = Path("/jars & more/hadoop")


def settings(text: str) -> dict[str, str]:
    found = {}
    for item in ET.fromstring(text).iter("property"):
        name, value = item.findtext("name"), item.findtext("value")
        assert name is not None
        assert value is not None
        assert name not in found
        found[name] = value
    return found


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """Every setting of the five XML files."""
    files = site_files(Layout(folder=Path("/a/<cluster>"), base_port=20000), JARS, "ida")
    merged: dict[str, str] = {}
    for name, text in files.items():
        if name.endswith(".xml"):
            merged |= settings(text)
    return merged


# A data node's own come on its command line, Thrift's too.
ON_COMMAND_LINES = {port for port in PORTS if port.startswith(("datanode", "thrift"))}


@pytest.mark.parametrize("port", sorted(set(PORTS) - ON_COMMAND_LINES))
def test_every_port_is_configured(port: str) -> None:
    layout = Layout(folder=Path("/a"), base_port=20000)
    text = "\n".join(site_files(layout, JARS, "ida").values())
    assert str(layout.port(port)) in text


def test_everything_listens_on_loopback(site: dict[str, str]) -> None:
    texts = "\n".join(site.values())
    assert "0.0.0.0" not in texts
    bound = {name: value for name, value in site.items() if name.endswith("bindAddress")}
    assert set(bound.values()) == {"127.0.0.1"}
    assert len(bound) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Why: comments of local_cluster/site_files.py.
        ("hbase.wal.provider", "filesystem"),
        ("hbase.wal.hsync", "true"),
        ("hbase.hfile.hsync", "true"),
        ("hbase.unsafe.stream.capability.enforce", "true"),
        ("hbase.defaults.for.version.skip", "true"),
        ("hbase.rootdir", "hdfs://127.0.0.1:20000/hbase"),
        ("dfs.replication", "2"),
        ("yarn.nodemanager.aux-services", "mapreduce_shuffle"),
        ("mapreduce.application.classpath", "/a/<cluster>/conf:/jars & more/hadoop/*"),
    ],
)
def test_settings_of_the_recipe(site: dict[str, str], name: str, value: str) -> None:
    assert site[name] == value


def test_thrift_servers_time_out_before_clients(site: dict[str, str]) -> None:
    ours_ms = 1000 * HBaseConnection(servers=(Server("a"),)).timeout_s
    for name in ("operation.timeout", "meta.operation.timeout", "scanner.timeout.period"):
        assert int(site[f"hbase.client.{name}"]) < ours_ms
    files = site_files(Layout(folder=Path("/a"), base_port=20000), JARS, "ida")
    # The other servers ask each other for as long as HBase has it.
    everybody = settings(files["hbase-site.xml"])
    assert not set(everybody) & {"hbase.client.retries.number", "hbase.rpc.timeout"}
    assert everybody.items() <= settings(files["thrift/hbase-site.xml"]).items()


def test_data_nodes_that_die_are_replaced_in_pipelines(site: dict[str, str]) -> None:
    # DEFAULT replaces none of fewer than three: a write-ahead log would shrink to one copy.
    replacing = "dfs.client.block.write.replace-datanode-on-failure"
    assert int(site["dfs.replication"]) < 3
    assert site[f"{replacing}.policy"] == "ALWAYS"
    assert site[f"{replacing}.best-effort"] == "true"


def test_region_servers_may_read_files_of_data_nodes(site: dict[str, str]) -> None:
    assert site["dfs.client.read.shortcircuit"] == "true"
    assert site["dfs.block.local-path-access.user"] == "ida"


def test_zookeeper_writes_into_the_folder() -> None:
    layout = Layout(folder=Path("/a/cluster"), base_port=20000)
    lines = site_files(layout, JARS, "ida")["zoo.cfg"].splitlines()
    assert "dataDir=/a/cluster/data/zookeeper" in lines
    assert f"clientPort={layout.port('zookeeper')}" in lines
    assert "clientPortAddress=127.0.0.1" in lines


def test_client_settings_are_valid() -> None:
    layout = Layout(folder=Path("/c"), base_port=20000, parts=frozenset({"yarn", "thrift2"}))
    text = format_settings(client_settings(layout, "spring"))
    with TemporaryDirectory() as folder:
        file = Path(folder, "pinakes.toml")
        file.write_text(text)
        configuration = load_configuration(file, environment={})
    assert hbase_connection(configuration) == HBaseConnection(
        servers=(Server("127.0.0.1", layout.port("thrift")),),
        admin_servers=(Server("127.0.0.1", layout.port("thrift2")),),
        prefix="spring:",
    )
    assert hdfs_connection(configuration) == HdfsConnection(
        url=f"hdfs://127.0.0.1:{layout.port('namenode')}/spring",
        web=(f"http://127.0.0.1:{layout.port('namenode-http')}",),
        config_folder=Path("/c/conf"),
    )
    assert client_settings(Layout(folder=Path("/c"), base_port=20000)).keys() == (
        client_settings(layout).keys() - {"hbase_admin"}
    )

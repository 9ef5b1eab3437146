"""From settings to what the HBase adapter is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.config import load_configuration
from pinakes.errors import ConfigError
from pinakes.profile import hbase_connection
from pinakes.row_store.hbase.connection import HBaseConnection, Sasl, Server, Tls


def connection(**options: str) -> HBaseConnection:
    return hbase_connection(load_configuration(options=options, environment={}, folder=Path("/")))


def test_one_setting_is_enough() -> None:
    assert connection(hbase="a:1,b") == HBaseConnection(servers=(Server("a", 1), Server("b")))


def test_every_setting_arrives() -> None:
    assert connection(
        hbase="a",
        hbase_admin="b:2",
        hbase_prefix="w_",
        hbase_transport="framed",
        hbase_protocol="compact",
        hbase_http_path="/x",
        hbase_tls="on",
        hbase_ca_file="/ca.pem",
        hbase_certificate_file="/me.pem",
        hbase_key_file="/key.pem",
        hbase_kerberos_service="hbase",
        hbase_timeout_s="1.5",
        hbase_retry_s="9",
        hbase_connections="3",
    ) == HBaseConnection(
        servers=(Server("a"),),
        admin_servers=(Server("b", 2),),
        prefix="w_",
        transport="framed",
        compact=True,
        http_path="/x",
        tls=Tls(
            ca_file=Path("/ca.pem"),
            certificate_file=Path("/me.pem"),
            key_file=Path("/key.pem"),
        ),
        sasl=Sasl(mechanism="GSSAPI", service="hbase"),
        timeout_s=1.5,
        retry_s=9.0,
        connections=3,
    )
    assert connection(hbase="a", hbase_transport="http", hbase_do_as="u").do_as == "u"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hbase": "a:b"},
        {"hbase": "a", "hbase_admin": ":1"},
        {"hbase": "a", "hbase_transport": "smoke"},
        {"hbase": "a", "hbase_tls": "yes"},
        {"hbase": "a", "hbase_timeout_s": "0"},
        {"hbase": "a", "hbase_retry_s": "inf"},
        {"hbase": "a", "hbase_do_as": "u"},
        {"hbase": "a", "hbase_prefix": "a:b:"},
    ],
    ids=str,
)
def test_what_is_wrong_is_named(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"hbase|Thrift server|do_as|prefix of table names"):
        connection(**options)

"""How tests reach HBase: a cluster that is there already, or none.

`PINAKES_TEST_HBASE` and `PINAKES_TEST_HBASE_ADMIN` name its Thrift servers, `host:port` each:
the first for rows, the second (Thrift 2) for tables.  One cluster serves all tests, since
each module's tables have a namespace of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex

import pytest
from store_openers import SCHEMA

from pinakes.row_store.hbase import HBaseRowStore
from pinakes.row_store.hbase_admin import HBaseSchemaAdmin
from pinakes.row_store.hbase_calls import HBaseCalls
from pinakes.row_store.hbase_connection import HBaseConnection, parse_servers
from pinakes.row_store.hbase_wire import tables_interface

ROWS, TABLES = "PINAKES_TEST_HBASE", "PINAKES_TEST_HBASE_ADMIN"
_named = {name: os.environ.get(name) for name in (ROWS, TABLES)}  # before a fixture removes them


@dataclass(frozen=True)
class HBaseOpener:
    connection: HBaseConnection

    def open(self) -> HBaseRowStore:
        return HBaseRowStore(self.connection, SCHEMA)

    def admin(self) -> HBaseSchemaAdmin:
        return HBaseSchemaAdmin(self.connection)


def hbase_connection() -> HBaseConnection:
    """A connection with a namespace of its own; skips the test without a cluster."""
    rows, tables = _named[ROWS], _named[TABLES]
    if not rows or not tables:
        pytest.skip(f"no HBase: {ROWS} and {TABLES} name no servers")
    return HBaseConnection(
        servers=parse_servers(rows),
        admin_servers=parse_servers(tables),
        prefix=f"test{token_hex(4)}:",
    )


@contextmanager
def hbase_tables() -> Iterator[HBaseOpener]:
    """Empty tables, gone afterwards."""
    opener = HBaseOpener(hbase_connection())
    opener.admin().apply(SCHEMA)
    try:
        yield opener
    finally:
        drop_tables(opener.connection)


def drop_tables(connection: HBaseConnection) -> None:
    """Remove every table under a prefix, and its namespace."""
    calls = HBaseCalls(tables_interface, "THBaseService", connection.admin_servers, connection)
    pattern = connection.prefix.encode() + b".*"
    for found in calls.call(lambda c: c.getTableDescriptorsByPattern(pattern, False)):
        calls.call_once(lambda c, name=found.tableName: c.disableTable(name))
        calls.call_once(lambda c, name=found.tableName: c.deleteTable(name))
    calls.close()

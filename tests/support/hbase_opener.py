"""How tests, and the processes they start, open a store on HBase.

One cluster serves all tests (tests/support/shared_cluster.py), since each module's tables
have a namespace of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

from store_openers import SCHEMA

from local_cluster.layout import HOST, Layout
from pinakes.hbase_schema.tables import Schema
from pinakes.row_store.hbase.admin import HBaseSchemaAdmin
from pinakes.row_store.hbase.calls import HBaseCalls
from pinakes.row_store.hbase.connection import HBaseConnection, Server
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.hbase.wire import tables_interface

PATIENCE_S = 180.0  # making a table takes a minute on a host with much to do


@dataclass(frozen=True)
class HBaseOpener:
    connection: HBaseConnection

    def open(self) -> HBaseRowStore:
        return HBaseRowStore(self.connection, SCHEMA)

    def admin(self) -> HBaseSchemaAdmin:
        return HBaseSchemaAdmin(self.connection)


def namespace_of_its_own(layout: Layout) -> HBaseConnection:
    """A connection under whose prefix there is nothing yet."""
    return HBaseConnection(
        servers=(Server(HOST, layout.port("thrift")),),
        admin_servers=(Server(HOST, layout.port("thrift2")),),
        prefix=f"test{token_hex(4)}:",
    )


@contextmanager
def hbase_tables(layout: Layout) -> Iterator[HBaseOpener]:
    """Empty tables, gone afterwards."""
    opener = HBaseOpener(namespace_of_its_own(layout))
    try:
        make_tables(opener.connection, SCHEMA)
        yield opener
    finally:
        drop_tables(opener.connection)


def make_tables(connection: HBaseConnection, schema: Schema) -> None:
    """What `init` makes, but all tables at once: of each second that one takes most is waiting."""
    _apply(connection, replace(schema, tables=()))
    _at_once(lambda table: _apply(connection, replace(schema, tables=(table,))), schema.tables)


def _apply(connection: HBaseConnection, schema: Schema) -> None:
    with closing(HBaseSchemaAdmin(connection)) as admin:
        admin.apply(schema)


def drop_tables(connection: HBaseConnection) -> None:
    """Remove every table under a prefix, all at once; the namespace stays."""
    pattern = connection.prefix.encode() + b".*"

    def drop(name: Any) -> None:
        with closing(_admin_calls(connection)) as calls:
            calls.call_once(lambda c: c.disableTable(name))
            calls.call_once(lambda c: c.deleteTable(name))

    with closing(_admin_calls(connection)) as calls:
        found = calls.call(lambda c: c.getTableDescriptorsByPattern(pattern, False))
    _at_once(drop, [descriptor.tableName for descriptor in found])


def _admin_calls(connection: HBaseConnection) -> HBaseCalls:
    patient = replace(connection, timeout_s=max(connection.timeout_s, PATIENCE_S))
    return HBaseCalls(tables_interface, "THBaseService", patient.admin_servers, patient)


def _at_once(do: Callable[[Any], None], these: Sequence[Any]) -> None:
    with ThreadPoolExecutor(max(1, len(these))) as threads:
        for _ in threads.map(do, these):
            pass

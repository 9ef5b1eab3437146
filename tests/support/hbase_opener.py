"""How tests, and the processes they start, open a store on HBase.

One cluster serves all tests (tests/support/shared_cluster.py), since each module's tables
have a namespace of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from secrets import token_hex

from store_openers import SCHEMA

from local_cluster.layout import HOST, Layout
from pinakes.row_store.hbase.admin import HBaseSchemaAdmin
from pinakes.row_store.hbase.calls import HBaseCalls
from pinakes.row_store.hbase.connection import HBaseConnection, Server
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.hbase.wire import tables_interface


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
        with closing(opener.admin()) as admin:
            admin.apply(SCHEMA)
        yield opener
    finally:
        drop_tables(opener.connection)


def drop_tables(connection: HBaseConnection) -> None:
    """Remove every table under a prefix; the namespace stays."""
    servers = connection.admin_servers
    pattern = connection.prefix.encode() + b".*"
    with closing(HBaseCalls(tables_interface, "THBaseService", servers, connection)) as calls:
        for found in calls.call(lambda c: c.getTableDescriptorsByPattern(pattern, False)):
            calls.call_once(lambda c, name=found.tableName: c.disableTable(name))
            calls.call_once(lambda c, name=found.tableName: c.deleteTable(name))

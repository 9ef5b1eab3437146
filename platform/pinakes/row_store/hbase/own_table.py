"""A table besides those of the schema, for values that HBase does not store itself: the version of
the schema, read when a store is opened and compared with ours, and HBase's clock.

schema    l:version   the version of the schema, written when all tables conform to it
clock     l:now       written and read back: HBase's time is in its timestamp
"""

from __future__ import annotations

from dataclasses import replace

from pinakes.errors import ConfigError, SchemaError
from pinakes.hbase_schema.tables import Family, Schema, Table

from .calls import HBaseCalls
from .connection import HBaseConnection

VERSION_ROW, VERSION_COLUMN = b"schema", b"l:version"
CLOCK_ROW, CLOCK_COLUMN = b"clock", b"l:now"

OWN_TABLE = Table(
    name="pinakes",
    row_key="schema or clock",
    families=(
        Family(
            name="l",
            holds="version of the schema, HBase's clock",
            act_time=False,
            versions=1,
            compression="NONE",
        ),
    ),
)


def parse_version(cell: bytes) -> int:
    """The version of the schema in a cell; SchemaError if it is not a number."""
    if not cell.isdigit():
        raise SchemaError(
            f"the schema version in the store is not a number: {cell[:40]!r} in "
            f"{VERSION_COLUMN.decode()} of the row {VERSION_ROW.decode()}"
        )
    return int(cell)


def schema_in_force(calls: HBaseCalls, connection: HBaseConnection, schema: Schema) -> Schema:
    """The declared schema with the versions that the store keeps.

    Raises ConfigError if there are no tables, SchemaError if their schema differs.
    """
    own = connection.table(OWN_TABLE.name)
    if own not in calls.call(lambda client: client.getTableNames()):
        raise ConfigError(
            f"there is no store in HBase under {connection.prefix!r}: make one with `pinakes init`"
        )
    cells = calls.call(lambda client: client.get(own, VERSION_ROW, VERSION_COLUMN, {}))
    version = parse_version(cells[0].value) if cells else None
    if version != schema.version:
        newer = version is not None and version > schema.version
        raise SchemaError(
            f"the store has schema version {version}, this Pinakes knows {schema.version}: "
            + ("use the newer Pinakes" if newer else "upgrade it with `pinakes init`")
        )
    return replace(
        schema, tables=tuple(_table_in_force(calls, connection, table) for table in schema.tables)
    )


def _table_in_force(calls: HBaseCalls, connection: HBaseConnection, table: Table) -> Table:
    name = connection.table(table.name)
    found = calls.call(lambda client: client.getColumnDescriptors(name))
    kept = {key.rstrip(b":").decode("ascii"): f.maxVersions for key, f in found.items()}
    for family in table.families:
        if family.name not in kept:
            raise SchemaError(
                f"the store has no family {table.name}:{family.name}: run `pinakes init`"
            )
    return replace(
        table,
        families=tuple(
            family if not family.act_time else replace(family, versions=kept[family.name])
            for family in table.families
        ),
    )

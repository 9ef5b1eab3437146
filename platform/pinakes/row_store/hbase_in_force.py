"""The schema of a store on HBase: read when it is opened, and compared with ours."""

from __future__ import annotations

from dataclasses import replace

from pinakes.errors import ConfigError, SchemaError
from pinakes.hbase_schema.tables import Schema, Table

from .hbase_calls import HBaseCalls
from .hbase_connection import HBaseConnection
from .hbase_own_table import OWN_TABLE, VERSION_COLUMN, VERSION_ROW, parse_version


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

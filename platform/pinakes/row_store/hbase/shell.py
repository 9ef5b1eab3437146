"""The schema as commands of HBase's shell, for administrators who create the tables.

Pure.  Attributes are named as `ColumnFamilyDescriptorBuilder` names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from pinakes.hbase_schema.tables import Family, FoundFamily, FoundSchema, Schema, Table

from .connection import HBaseConnection
from .own_table import OWN_TABLE, VERSION_COLUMN, VERSION_ROW

BLOOM_PREFIX = "RowPrefixBloomFilter.prefix_length"
"""Of a family's configuration: HBase's name of `Family.bloom_prefix_bytes`."""


def shell_lines(
    connection: HBaseConnection,
    schema: Schema,
    found: FoundSchema | None = None,
    *,
    splits: Mapping[str, Sequence[bytes]] | None = None,
) -> list[str]:
    """The commands for `hbase shell`, in order; none if everything is as declared.

    Without `found`, commands for everything.  Row keys of `splits` are printable, as all of ours.
    """
    there = dict(found.tables) if found is not None else {}
    version = found.version if found is not None else None
    lines = []
    space, colon, _ = connection.prefix.partition(":")
    if colon and not there and version is None:
        lines.append(f"create_namespace {_quoted(space)}")
    if version is None:
        lines.append(_create(connection, OWN_TABLE, ()))
    for table in schema.tables:
        families = {family.name: family for family in there.get(table.name, ())}
        if not families:
            lines.append(_create(connection, table, (splits or {}).get(table.name, ())))
            continue
        changed = [
            family
            for family in table.families
            if not is_as_declared(family, families.get(family.name))
        ]
        if changed:
            lines.append(f"alter {_name(connection, table)}, {_families(changed)}")
    if version != schema.version:
        cell = ", ".join(_quoted(part.decode("ascii")) for part in (VERSION_ROW, VERSION_COLUMN))
        lines.append(f"put {_name(connection, OWN_TABLE)}, {cell}, {_quoted(str(schema.version))}")
    return lines


def is_as_declared(family: Family, found: FoundFamily | None) -> bool:
    """Whether a family exists with every attribute as declared."""
    return found is not None and all(
        getattr(found, item.name) == getattr(family, item.name) for item in fields(FoundFamily)
    )


def _create(connection: HBaseConnection, table: Table, splits: Sequence[bytes]) -> str:
    line = f"create {_name(connection, table)}, {_families(table.families)}"
    if splits:
        line += f", SPLITS => [{', '.join(_quoted(key.decode('ascii')) for key in splits)}]"
    return line


def _families(families: Sequence[Family]) -> str:
    return ", ".join(
        f"{{NAME => {_quoted(family.name)}, VERSIONS => {family.versions},"
        f" COMPRESSION => {_quoted(family.compression)},"
        f" DATA_BLOCK_ENCODING => {_quoted(family.encoding)},"
        f" BLOOMFILTER => {_quoted(family.bloom_filter)},{_bloom_prefix(family)}"
        f" BLOCKCACHE => {_ruby(family.block_cache)}, BLOCKSIZE => {family.block_size_bytes},"
        f" IN_MEMORY => {_ruby(family.in_memory)}}}"
        for family in families
    )


def _bloom_prefix(family: Family) -> str:
    if family.bloom_prefix_bytes is None:
        return ""
    return f" CONFIGURATION => {{{_quoted(BLOOM_PREFIX)} => '{family.bloom_prefix_bytes}'}},"


def _name(connection: HBaseConnection, table: Table) -> str:
    return _quoted(connection.table(table.name).decode("ascii"))


def _quoted(text: str) -> str:
    """A Ruby string in single quotes."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _ruby(value: bool) -> str:
    return "true" if value else "false"

"""Checks of calls against the schema, the same in every adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pinakes.errors import SchemaError
from pinakes.hbase_schema.tables import Family, Schema, Table

from .port import Delete, Mutation, Put


class TableRules:
    """One table: its families by the first part of a column, remembered by column."""

    __slots__ = ("_families", "_seen", "act_families", "present_families", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self._families = {family.name.encode("ascii"): family for family in table.families}
        self._seen: dict[bytes, Family] = {}
        self.act_families = tuple(name for name, f in self._families.items() if f.act_time)
        self.present_families = tuple(n for n, f in self._families.items() if not f.act_time)

    def family_of(self, column: bytes) -> Family:
        """The family of a column `family:qualifier`, or of a family's bare name."""
        found = self._seen.get(column)
        if found is None:
            name, colon, qualifier = column.partition(b":")
            found = self._families.get(name)
            if found is None or (colon and not qualifier):
                raise SchemaError(f"the table {self.table.name} has no column {column!r}")
            if len(self._seen) < 10_000:  # some qualifiers are names of acts
                self._seen[column] = found
        return found

    def check(self, mutation: Mutation) -> None:
        """Raise SchemaError for an unknown column, ValueError for an invalid mutation."""
        if isinstance(mutation, Put):
            columns: Sequence[bytes] = tuple(mutation.cells)
            if not columns:
                _refuse(mutation, "puts nothing")
        else:
            columns = mutation.columns
        for column in columns:
            if self.family_of(column).act_time != (mutation.timestamp_ms is not None):
                _refuse(mutation, "facts need the act's timestamp, present cells must have none")
            if b":" not in column:
                _refuse(mutation, "names a family instead of a column")
        if not mutation.row:
            _refuse(mutation, "has no row key")

    def present_column(self, column: bytes) -> None:
        """Raise ValueError unless check-and-put may change the column."""
        if self.family_of(column).act_time or b":" not in column:
            raise ValueError(f"check-and-put changes only present cells, not {column!r}")

    def selected(
        self, columns: Sequence[bytes] | None, before_ms: int | None
    ) -> tuple[bytes, ...] | None:
        """The columns and families to read; None for all, empty for none at all."""
        if columns is None:
            return None if before_ms is None else self.act_families
        chosen = dict.fromkeys(columns)
        return tuple(c for c in chosen if self.family_of(c).act_time or before_ms is None)


def rules_of(schema: Schema) -> dict[str, TableRules]:
    """The rules of every table."""
    return {table.name: TableRules(table) for table in schema.tables}


def _refuse(mutation: Put | Delete, why: str) -> NoReturn:
    kind = type(mutation).__name__
    raise ValueError(f"a {kind} of row {mutation.row[:100]!r} {why}")

"""The embedded row store: one SQLite file, shared by processes.

Mutations are applied in transactions of some thousand cells, puts sorted by key, so that all of
them cost one fsync; if a batch raises, earlier transactions have been applied.  Deletes leave a
tombstone, so that an earlier put, which HBase would hide, is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from pinakes.errors import SchemaError
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.hbase_schema.tables import Schema, declared_schema
from pinakes.row_store.port import Delete, Mutation, Put, Row, StoredCell
from pinakes.row_store.rules import TableRules, rules_of

from .file import TIMEOUT_S, SqliteFile, stored_version
from .mutations import delete_cells, present_value, put_cells
from .rows import (
    Query,
    first_rows,
    newest_values_around,
    read_rows,
    read_versions,
    scan_newest_values,
    scan_rows,
)

TRANSACTION_CELLS = 20_000
TRANSACTION_BYTES = 16 << 20


def clock_ms() -> int:
    """The store's own clock."""
    return time.time_ns() // 1_000_000


class EmbeddedRowStore:
    """A `RowStore` in one SQLite file that `EmbeddedSchemaAdmin` has made.

    Raises ConfigError if there is no store, SchemaError if its schema differs.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], int] = clock_ms,
        serving: bool = False,
    ) -> None:
        """`serving`: for a server's process (`SqliteFile`)."""
        self._file = SqliteFile(path, timeout_s=timeout_s, serving=serving)
        self._clock = clock
        self._schema = _schema_in_force(self._file, schema or declared_schema())
        self._rules = rules_of(self._schema)

    @property
    def schema(self) -> Schema:
        return self._schema

    def get_rows(
        self,
        table: str,
        rows: Sequence[bytes],
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
    ) -> dict[bytes, Row]:
        query = self._query(table, columns, before_ms)
        return {row.key: row for row in read_rows(self._file, query, rows)}

    def scan(
        self,
        table: str,
        key_range: KeyRange = ALL_ROWS,
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
        reverse: bool = False,
        limit_rows: int | None = None,
    ) -> Iterator[Row]:
        query = self._query(table, columns, before_ms)
        return scan_rows(self._file, query, key_range, reverse=reverse, limit_rows=limit_rows)

    def first_rows(
        self,
        table: str,
        key_ranges: Sequence[KeyRange],
        *,
        limit_rows: int,
        columns: Sequence[bytes] | None = None,
    ) -> Iterator[list[Row]]:
        return first_rows(self._file, self._query(table, columns, None), key_ranges, limit_rows)

    def scan_values(
        self,
        table: str,
        key_range: KeyRange,
        columns: Sequence[bytes],
        *,
        limit_rows: int,
        reverse: bool = False,
    ) -> dict[bytes, bytes]:
        self._rules_of(table)
        return scan_newest_values(
            self._file, table, key_range, columns, limit_rows, reverse=reverse
        )

    def values_around(
        self,
        table: str,
        key_range: KeyRange,
        key: bytes,
        columns: Sequence[bytes],
        *,
        rows_before: int,
        rows_after: int,
    ) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
        self._rules_of(table)
        return newest_values_around(
            self._file, table, key_range, key, columns, rows_before, rows_after
        )

    def versions(self, table: str, row: bytes, column: bytes) -> list[StoredCell]:
        kept = self._rules_of(table).family_of(column).versions
        return read_versions(self._file, table, row, column, kept)

    def mutate(self, table: str, mutations: Iterable[Mutation]) -> None:
        rules = self._rules_of(table)
        for batch in _batches(rules, mutations):
            with self._file.write() as connection:
                for is_put, group in groupby(batch, key=lambda m: isinstance(m, Put)):
                    if is_put:
                        puts = [mutation for mutation in group if isinstance(mutation, Put)]
                        put_cells(connection, table, puts, self._clock())
                    else:
                        deletes = [m for m in group if isinstance(m, Delete)]
                        delete_cells(connection, rules, deletes)

    def check_and_put(
        self, table: str, row: bytes, column: bytes, *, expected: bytes | None, value: bytes
    ) -> bool:
        self._rules_of(table).present_column(column)
        with self._file.write() as connection:
            if present_value(connection, table, row, column) != expected:
                return False
            put_cells(connection, table, [Put(row, {column: value}, None)], self._clock())
        return True

    def close(self) -> None:
        self._file.close()

    def _rules_of(self, table: str) -> TableRules:
        rules = self._rules.get(table)
        if rules is None:
            raise SchemaError(f"there is no table {table!r}", file=str(self._file.path))
        return rules

    def _query(self, table: str, columns: Sequence[bytes] | None, before_ms: int | None) -> Query:
        rules = self._rules_of(table)
        return Query(rules, rules.selected(columns, before_ms), before_ms)


def _batches(rules: TableRules, mutations: Iterable[Mutation]) -> Iterator[list[Mutation]]:
    """Yield checked mutations, in lists for one transaction each."""
    batch: list[Mutation] = []
    cells = size_bytes = 0
    for mutation in mutations:
        rules.check(mutation)
        batch.append(mutation)
        if isinstance(mutation, Put):
            cells += len(mutation.cells)
            size_bytes += sum(map(len, mutation.cells.values()))
        else:
            cells += 1
        if cells >= TRANSACTION_CELLS or size_bytes >= TRANSACTION_BYTES:
            yield batch
            batch, cells, size_bytes = [], 0, 0
    if batch:
        yield batch


def _schema_in_force(file: SqliteFile, schema: Schema) -> Schema:
    """The declared schema with the versions that the store keeps."""
    version = stored_version(file)
    if version != schema.version:
        newer = version is not None and version > schema.version
        raise SchemaError(
            f"the store has schema version {version}, this Pinakes knows {schema.version}: "
            + ("use the newer Pinakes" if newer else "upgrade it with `pinakes init`"),
            file=str(file.path),
        )
    found = file.read("SELECT tab, family, versions FROM pinakes_families")
    kept = {(table, family): versions for table, family, versions in found}
    try:
        tables = tuple(
            replace(
                table,
                families=tuple(
                    replace(family, versions=kept[table.name, family.name])
                    for family in table.families
                ),
            )
            for table in schema.tables
        )
    except KeyError as error:
        raise SchemaError(
            f"the store has no family {':'.join(error.args[0])}: run `pinakes init`",
            file=str(file.path),
        ) from error
    return replace(schema, tables=tables)

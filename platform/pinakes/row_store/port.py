"""The ports: what Pinakes needs from a row store, within what HBase and SQLite can do.

Rows are sorted by the bytes of their keys.  A column is `family:qualifier`; a cell has versions,
newest first, of which a store returns as many as the family keeps.

**Two clocks.**  Cells of `act_time` families have the timestamp given by the writer: that of its
act.  Cells of other families (`l`) are the present: the store sets their timestamps, keeps one
version, and leaves them out of every read with a time bound.  A mutation contains families of one
clock.

**Guarantees.**  A mutation is all puts or all deletes of one row, and atomic; a batch is not
atomic.  Repeated with the same timestamps it leaves the same cells.  A scan sees each row whole,
but no snapshot of the table.  Deleted cells have no history, and a later put must have a later
timestamp than the delete: HBase would hide an earlier one until a major compaction, so nothing may
rely on it (the embedded store refuses it with `Conflict`).

**Errors.**  `StoreUnavailable`: cannot be reached, locked for too long, or full; the mutation may
be retried.  `SchemaError`: unknown table or family, or a schema that is not ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.hbase_schema.tables import FoundSchema, Schema


class StoredCell(NamedTuple):
    """One version of a cell.  A NamedTuple: reads make one for each cell."""

    value: bytes
    timestamp_ms: int


class Row(NamedTuple):
    """A row: its key and, by column, the newest cell requested.  Never without cells."""

    key: bytes
    cells: dict[bytes, StoredCell]

    def value(self, column: bytes) -> bytes | None:
        """The value in a column; None if the row has none."""
        cell = self.cells.get(column)
        return cell.value if cell is not None else None


class Put(NamedTuple):
    """Cells of one row, by column, all with one timestamp; None for families of the store's
    clock.  A NamedTuple: landing makes three for each capture."""

    row: bytes
    cells: Mapping[bytes, bytes]
    timestamp_ms: int | None


@dataclass(frozen=True, slots=True)
class Delete:
    """All versions up to a timestamp of these columns, or of the whole row without `columns`.

    With a timestamp it applies to families of act time; with None to those of the store's clock,
    of any age.  Deleting a row that has both takes two deletes.
    """

    row: bytes
    timestamp_ms: int | None
    columns: Sequence[bytes] = field(default=())


Mutation = Put | Delete


class RowStore(Protocol):
    """Reads and writes rows.  Safe for several threads and processes, each batch by itself."""

    @property
    def schema(self) -> Schema:
        """The schema in force, with the versions that this store keeps."""
        ...

    def get_rows(
        self,
        table: str,
        rows: Sequence[bytes],
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
    ) -> dict[bytes, Row]:
        """The rows that exist, by key.

        `columns` are columns (`m:capture`) or whole families (`m`).  `before_ms` gives the
        newest version older than that, of families of act time only.
        """
        ...

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
        """The rows of a range in byte order, or in reverse of it; lazy, some rows at a time.

        `columns` and `before_ms` are those of `get_rows`; a row with no such cell is
        skipped.  The range is the same in both directions: its start is inclusive.
        """
        ...

    def first_rows(
        self,
        table: str,
        key_ranges: Sequence[KeyRange],
        *,
        limit_rows: int,
        columns: Sequence[bytes] | None = None,
    ) -> Iterator[list[Row]]:
        """What `scan` yields for each range with that limit, at least 1, in their order; lazy.

        Over a network, many ranges cost hardly more than a few.
        """
        ...

    def scan_values(
        self,
        table: str,
        key_range: KeyRange,
        columns: Sequence[bytes],
        *,
        limit_rows: int,
        reverse: bool = False,
    ) -> dict[bytes, bytes]:
        """Of the first rows of a range that have one of these columns, the newest value: by row,
        in the order of `scan`.  Of a row that has several, that of the last column.

        For what is asked thousands of times a second: no `Row` is made.
        """
        ...

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
        """What `scan_values` gives of a range before a key of it, in reverse, and from it on."""
        ...

    def versions(self, table: str, row: bytes, column: bytes) -> list[StoredCell]:
        """The kept versions of a cell, newest first."""
        ...

    def mutate(self, table: str, mutations: Iterable[Mutation]) -> None:
        """Apply mutations in order, in batches chosen by the store.

        When this returns, all of them are durable; when it raises, some may have been applied,
        each whole, and all may be repeated.  Pass thousands at a time.
        """
        ...

    def check_and_put(
        self, table: str, row: bytes, column: bytes, *, expected: bytes | None, value: bytes
    ) -> bool:
        """Put a cell of a store-clock family if it now holds `expected` (None: nothing).

        Returns whether it was put.  After `StoreUnavailable` that is unknown: read the cell; every
        value should contain a token that identifies its writer.
        """
        ...

    def close(self) -> None:
        """Close the store; idempotent."""
        ...


class SchemaAdmin(Protocol):
    """Creates and upgrades tables, and reads the existing schema."""

    def apply(self, schema: Schema) -> list[str]:
        """Bring the store to this schema; return a line per change, none when repeated.

        Never drops a table or family.  Raises SchemaError for a store of a newer schema.
        """
        ...

    def describe(self) -> FoundSchema:
        """The existing schema; compare with `hbase_schema.tables.schema_drift`."""
        ...


def get_row(
    store: RowStore,
    table: str,
    row: bytes,
    *,
    columns: Sequence[bytes] | None = None,
    before_ms: int | None = None,
) -> Row | None:
    """One row; None if it does not exist.  One round trip."""
    return store.get_rows(table, [row], columns=columns, before_ms=before_ms).get(row)

"""The ports: what Pinakes asks of a store of rows, and no more than HBase and SQLite can do.

Rows are sorted by the bytes of their keys.  A column is `family:qualifier`; a cell has
versions, newest first, of which a store answers with as many as the family keeps.

**Two clocks.**  Cells of `act_time` families carry the timestamp that the writer gives: that
of its act.  Cells of the others (`l`) are the present: the store dates them, keeps one
version, and leaves them out of every read with a time bound.  A mutation touches families
of one clock.

**What is promised.**  A mutation is all puts or all deletes of one row, and atomic; a batch
is not.  Done again with the same timestamps it leaves the same cells.  A scan sees each row
whole, and no snapshot of the table.  What is deleted has no history, and a later put on it
must have a later timestamp than the delete: HBase would hide an earlier one until a major
compaction, so nothing may rely on it (the embedded store refuses it with `Conflict`).

**Errors.**  `StoreUnavailable`: not reachable, locked for too long, or full; the mutation may
be retried.  `SchemaError`: no such table or family, or a schema that is not ours.
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
    """A row: its key and, by column, the newest cell asked for.  Never without cells."""

    key: bytes
    cells: dict[bytes, StoredCell]

    def value(self, column: bytes) -> bytes | None:
        """The value in a column; None where the row has none."""
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

    With a timestamp it reaches the families of act time; with None those of the store's
    clock, whatever their age.  To forget a row that has both takes two deletes.
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

        `columns` and `before_ms` are those of `get_rows`; a row with no such cell is not
        given.  The range is the same in both directions: its start is inclusive.
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
        """What `scan` gives of each range with that limit, at least 1, in their order; lazy.

        For a store that is far away, many questions cost hardly more than a few.
        """
        ...

    def versions(self, table: str, row: bytes, column: bytes) -> list[StoredCell]:
        """The versions of a cell that are kept, newest first."""
        ...

    def mutate(self, table: str, mutations: Iterable[Mutation]) -> None:
        """Apply mutations in order, in batches of the store's own choice.

        When this returns all of them are durable; when it raises, some may be applied, each
        whole, and doing all of them again is right.  Give thousands at a time.
        """
        ...

    def check_and_put(
        self, table: str, row: bytes, column: bytes, *, expected: bytes | None, value: bytes
    ) -> bool:
        """Put a cell of a store-clock family if it now holds `expected` (None: nothing).

        Whether it was put.  After `StoreUnavailable` nobody knows: read the cell, and put a
        token into every value that tells whose it is.
        """
        ...

    def close(self) -> None:
        """Give up what is held open; idempotent."""
        ...


class SchemaAdmin(Protocol):
    """Creates and upgrades tables, and reads back what is there."""

    def apply(self, schema: Schema) -> list[str]:
        """Bring the store to this schema; a line for each thing done, none when run again.

        Never drops a table or family.  Raises SchemaError for a store of a newer schema.
        """
        ...

    def describe(self) -> FoundSchema:
        """What is there; compare with `hbase_schema.tables.schema_drift`."""
        ...


def get_row(
    store: RowStore,
    table: str,
    row: bytes,
    *,
    columns: Sequence[bytes] | None = None,
    before_ms: int | None = None,
) -> Row | None:
    """One row; None where there is none.  One round trip."""
    return store.get_rows(table, [row], columns=columns, before_ms=before_ms).get(row)

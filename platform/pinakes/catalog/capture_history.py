"""All cells of a capture's row, now or at an earlier time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.row_store.history import cell_before
from pinakes.row_store.port import RowStore, StoredCell, get_row

TABLE = "captures"


class CellState(NamedTuple):
    """A column and its cell; `kept` is False if an older version may have been deleted."""

    column: str
    cell: StoredCell | None
    kept: bool


def read_cells(store: RowStore, key: bytes, *, before_ms: int | None = None) -> list[CellState]:
    """The cells of a capture, sorted by column; empty if it is unknown.

    With `before_ms`, as they were just before that time: cells that did not exist yet are left
    out; a cell whose versions do not reach back that far has no value and is not `kept`.
    Deleted cells have no history.  One round trip, and one per column with `before_ms`.
    """
    row = get_row(store, TABLE, key)
    if row is None:
        return []
    if before_ms is None:
        return [CellState(c.decode(), cell, kept=True) for c, cell in sorted(row.cells.items())]
    return list(_as_of(store, key, sorted(row.cells), before_ms))


def _as_of(
    store: RowStore, key: bytes, columns: list[bytes], before_ms: int
) -> Iterator[CellState]:
    for column in columns:
        found = cell_before(store, TABLE, key, column, before_ms)
        if found.cell is not None or not found.kept:
            yield CellState(column.decode(), found.cell, found.kept)

"""Splits mutations, keys and rows into calls to HBase.  Pure.

Within one call, HBase's Thrift server puts first and deletes afterwards, all with one timestamp;
so a call is all puts or all deletes, of one timestamp.  A batch of either kind is a set: puts with
different timestamps are independent, and the order of deletes does not matter; of two puts of one
cell with one timestamp the later stays, as in HBase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from pinakes.row_store.port import Delete, Mutation, Put

BATCH_CELLS = 5_000
BATCH_BYTES = 2_000_000
"""A call of some 3 MB has broken a framed connection (its limit counts a whole frame)."""

CELL_BYTES = 32
"""Size of a cell on the wire besides its row, column and value: field headers, lengths."""

KEYS_PER_CALL = 1_000
KEYS_TO_SHARE_OUT = 100
"""Fewer keys are read by one call."""

PIECE_BYTES = 4_000_000
PIECE_ROWS = 10_000
"""Of one scan piece: opening a scanner for each takes as long as reading 1,000 rows."""

ANSWER_ROWS = 2_500
"""Of one answer in a piece: larger ones do not fit the processor's caches."""

T = TypeVar("T")
CellsByRow = dict[bytes, dict[bytes, bytes]]
ColumnsByRow = dict[bytes, dict[bytes, None]]


def iter_batches(
    mutations: Iterable[Mutation],
    *,
    max_cells: int = BATCH_CELLS,
    max_bytes: int = BATCH_BYTES,
) -> Iterator[list[Mutation]]:
    """Mutations in order, split between puts and deletes and where a call is full.

    A mutation is never split, because it must be atomic: one that is too large is sent alone.
    """
    batch: list[Mutation] = []
    cells = size_bytes = 0
    for mutation in mutations:
        more_cells, more_bytes = _weight(mutation)
        if batch and (
            type(mutation) is not type(batch[-1])
            or cells + more_cells > max_cells
            or size_bytes + more_bytes > max_bytes
        ):
            yield batch
            batch, cells, size_bytes = [], 0, 0
        batch.append(mutation)
        cells += more_cells
        size_bytes += more_bytes
    if batch:
        yield batch


def _weight(mutation: Mutation) -> tuple[int, int]:
    """Cells and bytes on the wire."""
    if isinstance(mutation, Put):
        cells = len(mutation.cells)
        content = sum(map(len, mutation.cells)) + sum(map(len, mutation.cells.values()))
    else:
        cells = len(mutation.columns) or 1
        content = sum(map(len, mutation.columns))
    return cells, len(mutation.row) + content + cells * CELL_BYTES


def puts_by_time(puts: Iterable[Put]) -> dict[int | None, CellsByRow]:
    """The cells of each call, by row: several puts of one row become one."""
    calls: dict[int | None, CellsByRow] = {}
    for put in puts:
        calls.setdefault(put.timestamp_ms, {}).setdefault(put.row, {}).update(put.cells)
    return calls


def deletes_by_time(
    deletes: Iterable[Delete], families: Sequence[bytes], present: Sequence[bytes]
) -> dict[int | None, ColumnsByRow]:
    """The columns of each call, by row; a whole row is the families of its clock."""
    calls: dict[int | None, ColumnsByRow] = {}
    for delete in deletes:
        whole_row = present if delete.timestamp_ms is None else families
        columns = calls.setdefault(delete.timestamp_ms, {}).setdefault(delete.row, {})
        columns.update(dict.fromkeys(delete.columns or whole_row))
    return calls


def narrowed(columns: Sequence[bytes]) -> list[bytes]:
    """Columns and families without the columns of a family that is read whole.

    HBase would read `m` with `m:capture` as `m:capture` alone.
    """
    chosen = dict.fromkeys(columns)
    return [c for c in chosen if b":" not in c or c.partition(b":")[0] not in chosen]


def pieces(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Slices of at most `size`."""
    return (items[first : first + size] for first in range(0, len(items), size))


def key_parts(keys: Sequence[bytes], parts: int) -> Iterator[Sequence[bytes]]:
    """Keys for calls side by side: in as many parts, unless they are few or very many."""
    each = -(-len(keys) // parts)
    return pieces(keys, max(KEYS_TO_SHARE_OUT, min(KEYS_PER_CALL, each)))


def next_piece_rows(asked_rows: int, found_rows: int, found_bytes: int) -> int:
    """How many rows to request next, so that an answer has about `PIECE_BYTES`.

    A row may have a hundred bytes or a megabyte, and the Thrift server holds a whole answer in
    memory: so the number grows gradually, and shrinks at once.
    """
    fitting = PIECE_BYTES * found_rows // max(found_bytes, 1)
    return max(1, min(fitting, 4 * asked_rows, PIECE_ROWS))

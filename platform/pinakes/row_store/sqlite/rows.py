"""Cells in SQLite tables: the queries, and how their answers become rows.

One SQL table per table, one SQL row per version of a cell, sorted as HBase sorts them:

    captures(row BLOB, col BLOB, ts INTEGER, value BLOB, PRIMARY KEY(row, col, ts)) WITHOUT ROWID

so that a scan walks along one tree.  A range is read in pieces of some thousand cells, each a
consistent view that ends with a row; nothing is held between pieces.
"""

# ruff: noqa: S608 (names of tables are those of the schema; values are bound)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.row_store.port import Row, StoredCell
from pinakes.row_store.rules import TableRules

from .file import SqliteFile

PIECE_CELLS = 4096
_BEHIND_ALL = b"\xff"  # no key has a byte above 0x7E
_RANGES = (8, 32, 128, 512)
_LEAST_RANGES = 4
_FEW_CELLS = 8
_Cells = list[tuple[bytes, bytes, int, bytes]]
_Values = list[tuple[bytes, bytes]]


class Query(NamedTuple):
    """What to read of each row: columns and families (None: all), and how old."""

    rules: TableRules
    selected: tuple[bytes, ...] | None
    before_ms: int | None

    def condition(self) -> tuple[str, list[object]]:
        """The columns as SQL, to follow a WHERE clause."""
        if self.selected is None:
            return "", []
        parts, values = ["0"], list[object]()
        for column in self.selected:
            if b":" in column:
                parts.append("col = ?")
                values.append(column)
            else:
                parts.append("col >= ? AND col < ?")
                values += prefix_range(column + b":")
        return f" AND ({' OR '.join(parts)})", values

    def rows(self, cells: _Cells) -> list[Row]:
        """The rows of these cells, which are sorted by row, by column, then oldest first."""
        if self.before_ms is None:
            return _newest(cells)
        groups = ((key, list(group)) for key, group in groupby(cells, key=itemgetter(0)))
        return [row for key, group in groups if (row := self._row(key, group)) is not None]

    def _row(self, key: bytes, cells: _Cells) -> Row | None:
        found = {}
        for column, group in groupby(cells, key=itemgetter(1)):
            kept = list(group)[-self.rules.family_of(column).versions :]
            for _, _, timestamp_ms, value in reversed(kept):
                if timestamp_ms < self.before_ms:  # type: ignore[operator]
                    found[column] = StoredCell(value, timestamp_ms)
                    break
        return Row(key, found) if found else None


def _newest(cells: _Cells) -> list[Row]:
    """Rows of the newest versions.

    The inner loop of every scan: `tuple.__new__` makes a NamedTuple in half the time.
    """
    rows: list[Row] = []
    new = tuple.__new__
    found: dict[bytes, StoredCell] = {}
    last = None
    for key, column, timestamp_ms, value in cells:
        if key != last:
            last, found = key, {}
            rows.append(new(Row, (key, found)))
        found[column] = new(StoredCell, (value, timestamp_ms))
    return rows


def read_rows(database: SqliteFile, query: Query, keys: Sequence[bytes]) -> Iterator[Row]:
    """The rows that exist among these keys."""
    condition, values = query.condition()
    sql = (
        f"SELECT row, col, ts, value FROM {query.rules.table.name}"
        f" WHERE row = ?{condition} ORDER BY col, ts"
    )
    for key in keys:
        yield from query.rows(database.read(sql, (key, *values)))


def read_versions(
    database: SqliteFile, table: str, row: bytes, column: bytes, versions: int
) -> list[StoredCell]:
    """The newest versions of a cell, newest first."""
    sql = f"SELECT value, ts FROM {table} WHERE row = ? AND col = ? ORDER BY ts DESC LIMIT ?"
    return [StoredCell(*cell) for cell in database.read(sql, (row, column, versions))]


def scan_rows(
    database: SqliteFile,
    query: Query,
    key_range: KeyRange,
    *,
    reverse: bool,
    limit_rows: int | None,
) -> Iterator[Row]:
    """The rows of a range, piece by piece."""
    given = 0
    start_row, stop_row = key_range
    # A small limit should not read thousands of cells; most rows have one or two.
    piece_cells = min(PIECE_CELLS, limit_rows + limit_rows // 4 + 8) if limit_rows else PIECE_CELLS
    while limit_rows is None or given < limit_rows:
        cells = _piece(database, query, start_row, stop_row, reverse, piece_cells)
        is_last = len(cells) < piece_cells
        if not is_last:
            # Its last row may continue in the next piece.
            cut = cells[-1][0]
            while cells and cells[-1][0] == cut:
                cells.pop()
            if not cells:
                piece_cells *= 2
                continue
            # One bound each way: given two, SQLite would seek to the farther one.
            if reverse:
                stop_row = cells[-1][0]
            else:
                start_row = cells[-1][0] + b"\0"
        rows = query.rows(cells[::-1])[::-1] if reverse else query.rows(cells)
        if limit_rows is not None:
            del rows[limit_rows - given :]
            given += len(rows)
        yield from rows
        if is_last:
            return
        piece_cells = min(max(PIECE_CELLS, piece_cells // 2), piece_cells * 2)


def first_rows(
    database: SqliteFile, query: Query, key_ranges: Sequence[KeyRange], limit_rows: int
) -> Iterator[list[Row]]:
    """The first rows of each range, some hundred ranges in one statement: a fifth of the time that
    a statement each takes."""
    most = max(1, min(_RANGES[-1], 4 * PIECE_CELLS // limit_rows))
    for at in range(0, len(key_ranges), most):
        some = key_ranges[at : at + most]
        if len(some) >= _LEAST_RANGES:
            yield from _first_rows(database, query, some, limit_rows)
            continue
        for keys in some:
            rows = scan_rows(database, query, keys, reverse=False, limit_rows=limit_rows)
            yield list(rows)


def _first_rows(
    database: SqliteFile, query: Query, key_ranges: Sequence[KeyRange], limit_rows: int
) -> list[list[Row]]:
    # Few different statements, since each is parsed: what is missing are ranges without rows.
    count = next(size for size in _RANGES if size >= len(key_ranges))
    bounds = [(start_row, stop_row or _BEHIND_ALL) for start_row, stop_row in key_ranges]
    bounds += [(b"", b"")] * (count - len(bounds))
    condition, columns = query.condition()
    ends = tuple(chain.from_iterable(bounds))
    table, most = query.rules.table.name, _FEW_CELLS * count
    # Mostly the ranges have few rows: to look for the limit of each takes twice as long.
    numbered = database.read(_whole_ranges_sql(table, count, condition), (*ends, *columns, most))
    if len(numbered) == most:
        sql = _ranges_sql(table, count, condition)
        numbered = database.read(sql, (*ends, *columns, limit_rows, *columns))
    found: list[_Cells] = [[] for _ in key_ranges]
    for number, *cell in numbered:
        found[number].append(tuple(cell))
    for cells in found:
        cells.sort()  # they are in this order, but SQL does not promise it
    return [_newest(cells)[:limit_rows] for cells in found]


@cache
def _whole_ranges_sql(table: str, count: int, condition: str) -> str:
    return (
        f"{_numbered_ranges(count)} SELECT number, row, col, ts, value FROM ranges"
        f" CROSS JOIN {table} WHERE row >= start AND row < stop{condition} LIMIT ?"
    )


@cache
def _ranges_sql(table: str, count: int, condition: str) -> str:
    return (
        f"{_numbered_ranges(count)} SELECT number, row, col, ts, value FROM ranges"
        f" CROSS JOIN {table} WHERE row IN"
        f" (SELECT DISTINCT row FROM {table} WHERE row >= start AND row < stop{condition}"
        f" ORDER BY row LIMIT ?){condition}"
    )


def _numbered_ranges(count: int) -> str:
    ranges = ", ".join(f"({number}, ?, ?)" for number in range(count))
    return f"WITH ranges(number, start, stop) AS (VALUES {ranges})"


def scan_newest_values(
    database: SqliteFile,
    table: str,
    key_range: KeyRange,
    columns: Sequence[bytes],
    limit_rows: int,
    *,
    reverse: bool,
) -> dict[bytes, bytes]:
    """The newest value in the last of these columns, as they sort, that a row has, by row."""
    sql = _values_sql(table, len(columns), reverse)
    start_row, stop_row = key_range.start_row, key_range.stop_row or _BEHIND_ALL
    found: dict[bytes, bytes] = {}
    wanted_cells, more_cells = limit_rows + 1, 1
    while True:
        cells = database.read(sql, (start_row, stop_row, *columns, wanted_cells))
        is_cut = len(cells) == wanted_cells
        values = _newest_values(cells, is_cut=is_cut, reverse=reverse)
        found.update(values)
        if not is_cut or len(found) >= limit_rows:
            break
        if reverse:
            stop_row = cells[-1][0] + b"\0"
        else:
            start_row = cells[-1][0]
        if not values:
            more_cells *= 4
        wanted_cells = limit_rows - len(found) + more_cells
    while len(found) > limit_rows:
        found.popitem()
    return found


def _newest_values(cells: _Values, *, is_cut: bool, reverse: bool) -> dict[bytes, bytes]:
    """Of some cells of a scan the newest by row; the last row, if it may have more, is left out."""
    values = dict(cells)
    if reverse and len(values) < len(cells):
        values.update(cells[::-1])
    if is_cut:
        del values[cells[-1][0]]
    return values


def newest_values_around(
    database: SqliteFile,
    table: str,
    key_range: KeyRange,
    key: bytes,
    columns: Sequence[bytes],
    rows_before: int,
    rows_after: int,
) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """What `scan_newest_values` gives on both sides of a key.

    With one query, which takes half the time of two, unless rows at the ends have several cells.
    """
    start_row, stop_row = key_range.start_row, key_range.stop_row or _BEHIND_ALL
    cells = database.read(
        _around_sql(table, len(columns)),
        (start_row, key, *columns, rows_before + 1, key, stop_row, *columns, rows_after + 1),
    )
    count = sum([cell[0] < key for cell in cells])

    def side(cells: _Values, limit_rows: int, reverse: bool) -> dict[bytes, bytes]:
        is_cut = len(cells) > limit_rows
        values = dict(cells)
        if len(values) == len(cells):  # a cell a row: nearly always
            if is_cut:
                values.popitem()
            return values
        values = _newest_values(cells, is_cut=is_cut, reverse=reverse)
        if is_cut and len(values) < limit_rows:
            keys = KeyRange(start_row, key) if reverse else KeyRange(key, stop_row)
            return scan_newest_values(database, table, keys, columns, limit_rows, reverse=reverse)
        return values

    return side(cells[:count], rows_before, True), side(cells[count:], rows_after, False)


@cache
def _around_sql(table: str, count: int) -> str:
    # As subqueries, each with its own order and limit.
    before, after = _values_sql(table, count, True), _values_sql(table, count, False)
    return f"SELECT * FROM ({before}) UNION ALL SELECT * FROM ({after})"


@cache
def _values_sql(table: str, count: int, reverse: bool) -> str:
    # `+`: SQLite sorts again where it takes one column for a constant.  Not `IN`: it makes a tree
    # of three values first, in half the time that a short scan takes.
    columns = f"({' OR '.join(['+col = ?'] * count) or 0})"
    order = "row DESC, col DESC, ts DESC" if reverse else "row, col, ts"
    return (
        f"SELECT row, value FROM {table} WHERE row >= ? AND row < ? AND {columns}"
        f" ORDER BY {order} LIMIT ?"
    )


def _piece(
    database: SqliteFile,
    query: Query,
    start_row: bytes,
    stop_row: bytes | None,
    reverse: bool,
    piece_cells: int,
) -> _Cells:
    """The first cells of a range, or the last in reverse."""
    where, values = "row >= ?", list[object]([start_row])
    if stop_row is not None:
        where += " AND row < ?"
        values.append(stop_row)
    condition, columns = query.condition()
    order = "row DESC, col DESC, ts DESC" if reverse else "row, col, ts"
    return database.read(
        f"SELECT row, col, ts, value FROM {query.rules.table.name}"
        f" WHERE {where}{condition} ORDER BY {order} LIMIT ?",
        (*values, *columns, piece_cells),
    )

"""Puts and deletes inside a transaction of the embedded store."""

# ruff: noqa: S608 (names of tables are those of the schema; values are bound)

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import itemgetter

from pinakes.errors import Conflict
from pinakes.row_store.port import Delete, Put
from pinakes.row_store.rules import TableRules


def put_cells(connection: sqlite3.Connection, table: str, puts: Sequence[Put], now_ms: int) -> None:
    """Put cells, sorted by key; Raises Conflict for one that a delete would hide."""
    _refuse_hidden(connection, table, puts)
    cells = [
        (put.row, column, now_ms if put.timestamp_ms is None else put.timestamp_ms, value)
        for put in puts
        for column, value in put.cells.items()
    ]
    present = [
        (put.row, column) for put in puts if put.timestamp_ms is None for column in put.cells
    ]
    if present:  # one version; a clock that was set back must not leave an older one as the newest
        connection.executemany(f"DELETE FROM {table} WHERE row = ? AND col = ?", present)
    cells.sort(key=itemgetter(0))  # stable sort: of two puts of one cell the later wins
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", cells)


def present_value(
    connection: sqlite3.Connection, table: str, row: bytes, column: bytes
) -> bytes | None:
    """The value of a cell with one version; None if there is none.

    The newest, as all else reads: a row put back by hand may have left an older one next to it.
    """
    sql = f"SELECT value FROM {table} WHERE row = ? AND col = ? ORDER BY ts DESC LIMIT 1"
    found: tuple[bytes] | None = connection.execute(sql, (row, column)).fetchone()
    return None if found is None else found[0]


def delete_cells(
    connection: sqlite3.Connection, rules: TableRules, deletes: Sequence[Delete]
) -> None:
    """Delete cells; families of act time get a tombstone, with `col` empty for a whole row."""
    for delete in deletes:
        for column in delete.columns or (b"",):
            _delete(connection, rules, delete.row, column, delete.timestamp_ms)


def _delete(
    connection: sqlite3.Connection,
    rules: TableRules,
    row: bytes,
    column: bytes,
    until_ms: int | None,
) -> None:
    table = rules.table.name
    where, values = "row = ?", list[object]([row])
    if column:
        where += " AND col = ?"
        values.append(column)
    else:
        where += f" AND {'' if until_ms is not None else 'NOT '}{_of_act_time(rules)}"
    if until_ms is None:
        connection.execute(f"DELETE FROM {table} WHERE {where}", values)
        return
    connection.execute(f"DELETE FROM {table} WHERE {where} AND ts <= ?", (*values, until_ms))
    connection.execute(
        "INSERT INTO pinakes_tombstones VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET ts = max(ts, excluded.ts)",
        (table, row, column, until_ms),
    )


def _of_act_time(rules: TableRules) -> str:
    """A condition: the column is in a family of act time.  0x3A is `:`, 0x3B what follows."""
    parts = (f"col >= x'{f.hex()}3a' AND col < x'{f.hex()}3b'" for f in rules.act_families)
    return f"({' OR '.join(parts) or '0'})"


def _refuse_hidden(connection: sqlite3.Connection, table: str, puts: Sequence[Put]) -> None:
    """Raise Conflict for a put that is no later than a delete before it."""
    any_deleted = "SELECT 1 FROM pinakes_tombstones WHERE tab = ? LIMIT 1"
    if connection.execute(any_deleted, (table,)).fetchone() is None:
        return
    sql = "SELECT col, ts FROM pinakes_tombstones WHERE tab = ? AND row = ? AND ts >= ?"
    for put in puts:
        if put.timestamp_ms is None:
            continue
        for column, deleted_ms in connection.execute(sql, (table, put.row, put.timestamp_ms)):
            if not column or column in put.cells:
                raise Conflict(
                    f"the row {put.row[:200]!r} of {table} was deleted at {deleted_ms}, and a put"
                    f" at {put.timestamp_ms} would stay hidden: take a later act time"
                )

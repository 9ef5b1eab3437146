"""Damage to what a store keeps: a file, a sidecar, a row, an old generation, a backup.

Each is flipped by a bit, cut, swapped with another of its kind, taken away, or put back as it was
at an earlier moment.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

TABLES = ("captures", "digests", "files", "crawls", "runs")
_SIDECAR = ".sidecar.parquet"


class Cell(NamedTuple):
    """A cell of the embedded row store."""

    table: str
    row: bytes
    column: bytes
    time_ms: int
    value: bytes


def damage(dice: random.Random, store: Path, earlier: Path | None) -> str:
    """Damage one stored thing; what was done, in words.  `earlier` is the store as it was."""
    kind = dice.choices(("file", "sidecar", "row", "rows"), weights=(5, 2, 4, 1))[0]
    if kind == "row":
        return _damage_row(dice, store, earlier)
    if kind == "rows":
        return _put_rows_back(store, earlier)
    names = [name for name in stored_files(store) if (_SIDECAR in name) == (kind == "sidecar")]
    return _damage_file(dice, store / "archive", sorted(names), earlier)


def stored_files(store: Path) -> list[str]:
    """All files below the archive folder, hidden ones too."""
    archive = store / "archive"
    return [str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file()]


def damage_folder(dice: random.Random, folder: Path) -> str:
    """Damage one file of a folder, such as a backup's."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    return _damage_file(dice, folder, sorted(names), None)


def _damage_file(dice: random.Random, folder: Path, names: list[str], earlier: Path | None) -> str:
    if not names:
        return "nothing: there is no such file"
    name = dice.choice(names)
    path = folder / name
    data = path.read_bytes()
    how = dice.choice(("flip", "flip", "flip", "cut", "swap", "old", "gone", "zeros"))
    if how == "flip" and data:
        at, bit = dice.randrange(len(data)), dice.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        return f"{name}: bit {bit} of byte {at} flipped"
    if how == "cut":
        end = dice.randrange(len(data) + 1)
        path.write_bytes(data[:end])
        return f"{name}: cut to {end} of {len(data)} bytes"
    if how == "swap":
        other = folder / dice.choice([one for one in names if one != name] or [name])
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
        return f"{name}: swapped with {other.relative_to(folder)}"
    if how == "old" and earlier is not None:
        # The file that had this name, or the one of the generation before it.
        for old in (earlier / "archive" / name, earlier / "archive" / name.replace("/g2/", "/")):
            if old.is_file() and old.read_bytes() != data:
                path.write_bytes(old.read_bytes())
                return f"{name}: put back as it was"
    if how == "gone":
        path.unlink()
        return f"{name}: taken away"
    length = min(len(data), dice.choice((16, 64, 512)))
    at = dice.randrange(len(data) - length + 1)
    path.write_bytes(data[:at] + bytes(length) + data[at + length :])
    return f"{name}: {length} bytes from {at} on are zeros"


def cells(store: Path) -> Iterator[Cell]:
    """All cells of the tables that acts rely on, in order."""
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows:
        for table in TABLES:
            for cell in rows.execute(f"SELECT row, col, ts, value FROM {table}"):
                yield Cell(table, *cell)


def _damage_row(dice: random.Random, store: Path, earlier: Path | None) -> str:
    there = list(cells(store))
    table = dice.choice(sorted({cell.table for cell in there}))
    one = dice.choice([cell for cell in there if cell.table == table])
    alike = [
        cell
        for cell in there
        if cell.table == table and cell.column == one.column and cell.value != one.value
    ]
    how = dice.choice(("flip", "gone", "row gone", "swap", "old"))
    what = f"{table} {one.row!r} {one.column!r}"
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        if how == "row gone":
            rows.execute(f"DELETE FROM {table} WHERE row=?", (one.row,))
            return f"{what}: all of the row taken away"
        if how == "swap" and alike:
            other = dice.choice(alike)
            _set(rows, one, other.value)
            _set(rows, other, one.value)
            return f"{what}: swapped with {other.row!r}"
        if how == "old" and earlier is not None:
            for old in cells(earlier):
                if old[:3] != one[:3] and (old.table, old.row, old.column) == one[:1] + one[1:3]:
                    _set(rows, one, old.value)
                    return f"{what}: put back as it was"
        if how == "flip" and one.value:
            at, bit = dice.randrange(len(one.value)), dice.randrange(8)
            value = bytearray(one.value)
            value[at] ^= 1 << bit
            _set(rows, one, bytes(value))
            return f"{what}: bit {bit} of byte {at} flipped"
        rows.execute(
            f"DELETE FROM {table} WHERE row=? AND col=? AND ts=?",
            (one.row, one.column, one.time_ms),
        )
        return f"{what}: taken away"


def _set(rows: sqlite3.Connection, cell: Cell, value: bytes) -> None:
    rows.execute(
        f"UPDATE {cell.table} SET value=? WHERE row=? AND col=? AND ts=?",
        (value, cell.row, cell.column, cell.time_ms),
    )


def _put_rows_back(store: Path, earlier: Path | None) -> str:
    if earlier is None:
        return "nothing"
    for name in ("rows.sqlite-wal", "rows.sqlite-shm"):
        (store / name).unlink(missing_ok=True)
    (store / "rows.sqlite").write_bytes((earlier / "rows.sqlite").read_bytes())
    return f"all rows put back as they were when {earlier.parent.name}"

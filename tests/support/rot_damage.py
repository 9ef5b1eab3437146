"""Damage to what a store keeps: a file, a sidecar, a row, an old generation, a backup.

Each is flipped by a bit, cut, swapped with another of its kind, taken away, or put back as it was
at an earlier moment.
"""

from __future__ import annotations

import random
from pathlib import Path

from stored_things import SIDECAR, FilesOfFolder, StoredFiles, StoredThings, StoreInFolder


def damage(dice: random.Random, store: StoredThings, earlier: StoreInFolder | None) -> str:
    """Damage one stored thing; what was done, in words.  `earlier` is the store as it was."""
    kind = dice.choices(("file", "sidecar", "row", "rows"), weights=(5, 2, 4, 1))[0]
    if kind == "row":
        return _damage_row(dice, store, earlier)
    if kind == "rows":
        return _put_rows_back(store, earlier)
    names = [name for name in store.files.names() if (SIDECAR in name) == (kind == "sidecar")]
    return _damage_file(dice, store.files, names, earlier.files if earlier else None)


def damage_folder(dice: random.Random, folder: Path) -> str:
    """Damage one file of a folder, such as a backup's."""
    files = FilesOfFolder(folder)
    return _damage_file(dice, files, files.names(), None)


def _damage_file(
    dice: random.Random, files: StoredFiles, names: list[str], earlier: StoredFiles | None
) -> str:
    if not names:
        return "nothing: there is no such file"
    name = dice.choice(names)
    data = files.read(name)
    how = dice.choice(("flip", "flip", "flip", "cut", "swap", "old", "gone", "zeros"))
    if how == "flip" and data:
        at, bit = dice.randrange(len(data)), dice.randrange(8)
        files.write(name, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        return f"{name}: bit {bit} of byte {at} flipped"
    if how == "cut":
        end = dice.randrange(len(data) + 1)
        files.write(name, data[:end])
        return f"{name}: cut to {end} of {len(data)} bytes"
    if how == "swap":
        other = dice.choice([one for one in names if one != name] or [name])
        files.write(name, files.read(other))
        files.write(other, data)
        return f"{name}: swapped with {other}"
    if how == "old" and earlier is not None:
        # The file that had this name, or the one of the generation before it.
        there = set(earlier.names())
        for old in (name, name.replace("/g2/", "/")):
            if old in there and (before := earlier.read(old)) != data:
                files.write(name, before)
                return f"{name}: put back as it was"
    if how == "gone":
        files.delete(name)
        return f"{name}: taken away"
    length = min(len(data), dice.choice((16, 64, 512)))
    at = dice.randrange(len(data) - length + 1)
    files.write(name, data[:at] + bytes(length) + data[at + length :])
    return f"{name}: {length} bytes from {at} on are zeros"


def _damage_row(dice: random.Random, store: StoredThings, earlier: StoreInFolder | None) -> str:
    there = list(store.cells())
    table = dice.choice(sorted({cell.table for cell in there}))
    one = dice.choice([cell for cell in there if cell.table == table])
    alike = [
        cell
        for cell in there
        if cell.table == table and cell.column == one.column and cell.value != one.value
    ]
    how = dice.choice(("flip", "gone", "row gone", "swap", "old"))
    what = f"{table} {one.row!r} {one.column!r}"
    if how == "row gone":
        store.delete_row(table, one.row)
        return f"{what}: all of the row taken away"
    if how == "swap" and alike:
        other = dice.choice(alike)
        store.put(one, other.value)
        store.put(other, one.value)
        return f"{what}: swapped with {other.row!r}"
    if how == "old" and earlier is not None:
        for old in earlier.cells():
            if old[:3] == one[:3] and old.value != one.value:
                store.put(one, old.value)
                return f"{what}: put back as it was"
    if how == "flip" and one.value:
        at, bit = dice.randrange(len(one.value)), dice.randrange(8)
        value = bytearray(one.value)
        value[at] ^= 1 << bit
        store.put(one, bytes(value))
        return f"{what}: bit {bit} of byte {at} flipped"
    store.delete_cell(one)
    return f"{what}: taken away"


def _put_rows_back(store: StoredThings, earlier: StoreInFolder | None) -> str:
    if earlier is None:
        return "nothing"
    store.put_rows_back(earlier)
    return f"all rows put back as they were when {earlier.folder.parent.name}"

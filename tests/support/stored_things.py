"""What a store keeps, as plain files and cells: read and changed behind the back of Pinakes.

Here it is a folder and SQLite's file of rows; `stored_on_cluster` has HDFS and HBase.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Protocol

TABLES = ("captures", "digests", "files", "crawls", "runs")
"""Those that acts rely on."""
SIDECAR = ".sidecar.parquet"


class Cell(NamedTuple):
    """A cell of a row store."""

    table: str
    row: bytes
    column: bytes
    time_ms: int
    value: bytes


class StoredFiles(Protocol):
    """Files by their names, hidden ones too."""

    def names(self) -> list[str]:
        """All of them, sorted."""

    def read(self, name: str) -> bytes:
        """The bytes of one."""

    def write(self, name: str, data: bytes) -> None:
        """Replace one, or make it."""

    def delete(self, name: str) -> None:
        """Take one away."""


class StoredThings(Protocol):
    """A store's files and cells, and how a verb is told of the store."""

    @property
    def files(self) -> StoredFiles:
        """Those of the archive: files, sidecars, old generations, what a repair has replaced."""

    @property
    def options(self) -> tuple[str, ...]:
        """What names the store on a command line."""

    def archive_here(self, folder: Path) -> Path:
        """The archive as a folder of this host: it, or a copy in `folder`."""

    def cells(self) -> Iterator[Cell]:
        """The cells of `TABLES`, in the order of tables, rows, and columns."""

    def put(self, cell: Cell, value: bytes) -> None:
        """Give a cell another value, under its old time."""

    def delete_cell(self, cell: Cell) -> None:
        """Take one cell away."""

    def delete_row(self, table: str, row: bytes) -> None:
        """Take all cells of a row away."""

    def put_rows_back(self, earlier: StoreInFolder) -> None:
        """Have all rows as this store has them."""

    def remove(self) -> None:
        """Take the whole store away."""


class Place(Protocol):
    """Where rounds have their stores."""

    LEFT_OUT: frozenset[str]
    """Verbs that are not called there."""

    def lay(self, scene: Path, folder: Path) -> StoredThings:
        """A store that keeps what the one of a scene does; `folder` is the round's."""


class FilesOfFolder:
    """`StoredFiles` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self._folder)) for path in files)

    def read(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        (self._folder / name).write_bytes(data)

    def delete(self, name: str) -> None:
        (self._folder / name).unlink()


class StoreInFolder:
    """`StoredThings` of the embedded profile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = FilesOfFolder(folder / "archive")
        self.options = ("--store", str(folder))

    def archive_here(self, folder: Path) -> Path:
        return self.folder / "archive"

    def cells(self, tables: tuple[str, ...] = TABLES) -> Iterator[Cell]:
        with self._rows() as rows:
            for table in tables:
                for cell in rows.execute(f"SELECT row, col, ts, value FROM {table}"):
                    yield Cell(table, *cell)

    def put(self, cell: Cell, value: bytes) -> None:
        with self._rows() as rows, rows:
            rows.execute(
                f"UPDATE {cell.table} SET value=? WHERE row=? AND col=? AND ts=?",
                (value, cell.row, cell.column, cell.time_ms),
            )

    def delete_cell(self, cell: Cell) -> None:
        with self._rows() as rows, rows:
            rows.execute(
                f"DELETE FROM {cell.table} WHERE row=? AND col=? AND ts=?",
                (cell.row, cell.column, cell.time_ms),
            )

    def delete_row(self, table: str, row: bytes) -> None:
        with self._rows() as rows, rows:
            rows.execute(f"DELETE FROM {table} WHERE row=?", (row,))

    def put_rows_back(self, earlier: StoreInFolder) -> None:
        for name in ("rows.sqlite-wal", "rows.sqlite-shm"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "rows.sqlite").write_bytes((earlier.folder / "rows.sqlite").read_bytes())

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def _rows(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(self.folder / "rows.sqlite"))


class Folders:
    """The `Place` of stores that are folders."""

    LEFT_OUT: frozenset[str] = frozenset()

    def lay(self, scene: Path, folder: Path) -> StoredThings:
        shutil.copytree(scene.parent, folder)
        return StoreInFolder(folder / scene.name)

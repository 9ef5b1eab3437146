"""Backups of a scene, stores made of them, and what there is in both."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from scenes import Scene

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.backup.embedded import EmbeddedRestorer, EmbeddedSnapshots
from pinakes.backup.making import BackupMaker, BackupReport
from pinakes.backup.restoring import BackupRestoring, RestoreReport
from pinakes.catalog.file_rows import scan_entries
from pinakes.hbase_schema.tables import SCHEMA_VERSION, declared_schema
from pinakes.row_store.sqlite.store import EmbeddedRowStore

At = Callable[[str], None]
Cell = tuple[str, bytes, bytes, int, bytes]
LEAVING = "c2"
"""The crawl that is taken out and landed again all the time."""


def nothing(_: str) -> None:
    """The step of a process that lives."""


def back_up(scene: Scene, target: Path, *, at: At = nothing, jobs: int = 1) -> BackupReport:
    maker = BackupMaker(
        scene.rows,
        scene.archive,
        EmbeddedSnapshots(scene.folder / "store", at=at),
        LocalArchiveStore(target),
        Actor(),
        profile="embedded",
        software="tests",
        place=str(target),
        runs_folder=scene.folder / "store" / "runs",
        jobs=jobs,
        at=at,
    )
    return maker.make()


def restore(backup: Path, folder: Path, *, at: At = nothing) -> RestoreReport:
    """Make the store of a scene in `folder` of a backup."""
    store = folder / "store"
    store.mkdir(parents=True, exist_ok=True)
    restoring = BackupRestoring(
        LocalArchiveStore(backup),
        EmbeddedRestorer(folder=store, schema=declared_schema(), token="rows"),
        LocalArchiveStore(store / "archive"),
        place=str(backup),
        profile="embedded",
        schema_version=SCHEMA_VERSION,
        software="tests",
        runs_folder=store / "runs",
        at=at,
    )
    return restoring.restore()


@contextmanager
def opened(folder: Path) -> Iterator[Scene]:
    """A restored store, to be worked with."""
    with closing(EmbeddedRowStore(folder / "store" / "rows.sqlite")) as rows:
        yield Scene(folder, rows)


def cells(path: Path) -> set[Cell]:
    """Every version of every cell of a store, but for what tells of backups themselves."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT DISTINCT tab FROM pinakes_families")]
        return {
            (table, *cell)
            for table in tables
            for cell in database.execute(f"SELECT row, col, ts, value FROM {table}")
            if not (table == "crawls" and cell[0] == b"+")
            and not (table == "runs" and cell[0].startswith((b"backup-", b"restore-")))
        }


def current_files(scene: Scene) -> dict[str, str]:
    """Checksum by name of every archive file and sidecar that is published."""
    return {stored.name: scene.archive.checksum(stored.name) for stored in scene.archive.list()}


def states(scene: Scene) -> dict[str, tuple[str | None, int]]:
    return {e.archive_file: (e.state, e.generation) for e in scan_entries(scene.rows)}


def untouched(before: set[Cell], after: set[Cell]) -> set[Cell]:
    """Cells that no act has changed, and none was at work on."""
    # What lands from before a backup until after it is not in the backup, either.
    landing = {row.decode() for table, row, *_ in before if table == "inflight"}
    busy = (f"{LEAVING}/", *landing)
    rows = {
        row
        for _, row, column, _, value in before
        if column == b"m:capture" and json.loads(value)["filename"].startswith(busy)
    }
    return {
        cell
        for cell in before & after
        if not cell[2].startswith((b"l:", b"d:dedupe"))
        and cell[1] not in rows
        and not any(f":{name}".encode() in cell[1] for name in busy)
        and not cell[1].startswith((LEAVING.encode(), *map(str.encode, landing)))
    }

"""Copies the embedded store's file as it is at one moment, while others write to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from .file import TIMEOUT_S, translated

_PAGES = 4096


def copy_rows(
    source: Path,
    target: Path,
    *,
    fixed: Callable[[], None] = lambda: None,
    advance: Callable[[], None] = lambda: None,
) -> None:
    """Copy all tables into a new file, on disk when this returns.

    `fixed` is called once the snapshot is fixed: later commits are not in the copy.  `advance` is
    called after each piece.  Writers do not wait; what they write stays in the log
    until the copy ends.

    Raises:
        StoreUnavailable: the disk is full, or the file cannot be read, or is damaged.
    """
    with translated(source):
        reading = sqlite3.connect(
            f"{source.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=TIMEOUT_S,
            isolation_level=None,
        )
        writing = sqlite3.connect(target, isolation_level=None)
        try:
            # A transaction of the connection that is copied from: without one the copy would
            # begin again whenever another process writes.
            reading.execute("BEGIN")
            reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
            fixed()
            reading.backup(writing, pages=_PAGES, progress=lambda *_: advance())
            # Pages are copied as they are: a damaged one would make a worthless copy.
            (found,) = writing.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError("database disk image is malformed")
        finally:
            writing.close()
            reading.close()
    with target.open("rb") as file:
        os.fsync(file.fileno())

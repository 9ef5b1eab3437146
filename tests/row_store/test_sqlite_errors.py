"""Errors of SQLite that tests cannot bring about come out as ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pinakes.errors import StoreUnavailable
from pinakes.row_store.sqlite.file import translated


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        # SQLITE_PROTOCOL: another process is suspended while it begins to write.
        ("locking protocol", "another process stands still"),
        ("database is locked", "another process has been writing for too long"),
        ("database or disk is full", "the disk is full"),
        ("disk I/O error", "the disk failed"),
    ],
)
def test_errors_are_named_with_what_to_do(words: str, advice: str) -> None:
    with pytest.raises(StoreUnavailable, match=advice), translated(Path("rows.sqlite")):
        raise sqlite3.OperationalError(words)

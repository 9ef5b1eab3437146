"""An act that fails at any call, and is done again, ends as if it had not failed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from failing_store import failing_rows
from row_store_contract import RowStoreContract
from store_openers import SCHEMA, EmbeddedOpener

from pinakes.errors import StoreUnavailable
from pinakes.row_store.port import Put, RowStore, get_row
from pinakes.row_store.sqlite.file import translated

CLAIM, STATE = b"l:claim", b"l:state"


def act(store: RowStore, token: bytes) -> None:
    """Claim a row, put what belongs to it, mark it stored: landing, in small."""
    found = get_row(store, "files", b"c/f")
    held = found.value(CLAIM) if found else None
    if not store.check_and_put("files", b"c/f", CLAIM, expected=held, value=token):
        raise AssertionError("nobody else is there")
    for n in range(3):
        store.mutate("captures", [Put(b"k%d" % n, {b"m:capture": b"v"}, 1)])
    state = get_row(store, "files", b"c/f", columns=[STATE])
    if state is None:
        store.check_and_put("files", b"c/f", STATE, expected=None, value=b"stored")
    store.mutate("files", [Put(b"c/f", {CLAIM: b"free"}, None)])


def contents(store: RowStore) -> list[tuple[str, bytes, dict[bytes, bytes]]]:
    return [
        (table, row.key, {column: cell.value for column, cell in row.cells.items()})
        for table in ("files", "captures")
        for row in store.scan(table)
    ]


@pytest.fixture
def opener(tmp_path: Path) -> EmbeddedOpener:
    opener = EmbeddedOpener(tmp_path / "rows.sqlite")
    opener.admin().apply(SCHEMA)
    return opener


@pytest.mark.parametrize("applied", [False, True], ids=["not done", "done, answer lost"])
def test_failing_at_every_call(tmp_path: Path, applied: bool) -> None:
    def fresh() -> Iterator[RowStore]:
        for n in count():
            opener = EmbeddedOpener(tmp_path / f"{n}.sqlite")
            opener.admin().apply(SCHEMA)
            yield opener.open()

    stores = fresh()
    with closing(next(stores)) as store:
        whole = failing_rows(store, 0)
        act(whole, b"1")
        wanted = contents(store)
    assert whole.calls == 8
    for fail_at in range(1, whole.calls + 1):
        with closing(next(stores)) as store:
            with pytest.raises(StoreUnavailable, match=f"call {fail_at} fails"):
                act(failing_rows(store, fail_at, applied=applied), b"1")
            act(store, b"2")
            assert contents(store) == wanted


class TestFailingStoreThatDoesNotFail(RowStoreContract):
    """A wrapper that does not fail is a row store like any other: a second adapter."""

    @pytest.fixture
    def store(self, opener: EmbeddedOpener) -> Iterator[RowStore]:
        with closing(failing_rows(opener.open(), 0)) as store:
            yield store


# --- Errors of SQLite that tests cannot bring about come out as ours


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

"""A cell that cannot be read is named by its table, row and column, by whatever verb needs it."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kill_loop import write_crawls
from store_chain import ANY_SAVING, call
from verbs_here import call_here
from warc_sets import OTHER, ArchiveFile, Rec, write_set

URL = "http://example.org/9"
RUN = ("dedupe", "--all", *ANY_SAVING)
CRAWLS = ("crawl", "list")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_crawls(folder, 1)
    store = folder / "store"
    acts = [("init",), ("ingest", folder / "one", "--crawl", "c1"), RUN]
    for words in acts:
        assert call(*words, "--store", store).exit_code == 0, words
    return store


def damage(store: Path, table: str, column: str, find: bytes, put: bytes) -> str:
    """Change the first cell of a column; its row."""
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        cell = (column.encode(),)
        [(key, ts, value)] = rows.execute(
            f"SELECT row, ts, value FROM {table} WHERE col=? ORDER BY row LIMIT 1", cell
        ).fetchall()
        changed = re.sub(find, put, value, count=1)
        assert changed != value
        rows.execute(
            f"UPDATE {table} SET value=? WHERE row=? AND col=? AND ts=?", (changed, key, *cell, ts)
        )
    return str(key.decode())


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("files", "f:facts", RUN),
        ("files", "l:state", RUN),
        ("files", "l:claim", RUN),
        ("files", "f:facts", CRAWLS),
        ("files", "f:generation.2", CRAWLS),
        ("files", "f:facts", ("timeline", URL)),
        ("crawls", "f:facts", RUN),
        ("crawls", "l:state", CRAWLS),
        ("captures", "d:dedupe", ("show", "ROW")),
        ("captures", "d:pin", ("crawl", "purge", "c1", "--plan")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
@pytest.mark.parametrize(
    ("find", "put", "code", "why"),
    [
        (rb'"v":\d', b'"v":9', 2, "upgrade it; if no newer Pinakes has written to this store"),
        (rb'"v":\d', b'"w":1', 3, "has no schema version"),
    ],
    ids=["newer", "unreadable"],
)
def test_a_cell_is_named(
    made: Path,
    tmp_path: Path,
    table: str,
    column: str,
    words: tuple[str, ...],
    find: bytes,
    put: bytes,
    code: int,
    why: str,
) -> None:
    store = Path(shutil.copytree(made, tmp_path / "store"))
    row = damage(store, table, column, find, put)
    answer = call(*(row if word == "ROW" else word for word in words), "--store", store)
    assert answer.exit_code == code
    assert f"table {table}, row {row}, column {column}: " in answer.err
    assert why in answer.err
    found = call("fsck", "--full", "--store", store)
    assert found.exit_code == 1
    assert row.partition(" ")[0] in found.out


# --- A file whose state in `files` is lost is read by nobody: acts on its crawl say so


LOST = {"state": b"l:state", "whole row": None}
VERBS = {
    "dedupe": ("dedupe", "c1"),
    "dedupe all": ("dedupe", "--all"),
    "zstd": ("zstd", "compress", "c1", "--min-file-saving", "0"),
    "zstd plan": ("zstd", "compress", "c1", "--plan"),
    "export": ("export-wacz", "c1", "-o", "c1.wacz"),
}


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("landed")
    files = [
        ArchiveFile(name, [Rec(uri=f"http://example.org/{name}", body=OTHER * size)], "gzip", size)
        for size, name in enumerate("ab", start=20)
    ]
    write_set(folder / "c1", files)
    for words in (("init",), ("ingest", str(folder / "c1"), "--crawl", "c1")):
        assert call_here(folder, *words, "--store", str(folder / "store")).returncode == 0
    return folder


@pytest.mark.parametrize("column", LOST.values(), ids=LOST)
@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_file_is_named(
    words: tuple[str, ...], column: bytes | None, landed: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(landed / "store", store)
    with sqlite3.connect(store / "rows.sqlite") as rows:
        row = b"c1/b.warc.gz"
        if column is None:
            done = rows.execute("DELETE FROM files WHERE row = ?", (row,))
        else:
            done = rows.execute("DELETE FROM files WHERE row = ? AND col = ?", (row, column))
        assert done.rowcount
    rows.close()
    answer = call_here(tmp_path, *words, "--store", str(store))
    assert answer.returncode == 3, answer.stderr
    if column is not None:
        assert "state-lost" in call_here(tmp_path, "fsck", "--repair", "--store", str(store)).stdout
        found = call_here(tmp_path, "fsck", "--full", "--store", str(store))
        assert found.returncode == 0, found.stdout
    assert "c1/b.warc.gz: the catalogue does not know this file" in answer.stderr
    assert not (tmp_path / "c1.wacz").exists()

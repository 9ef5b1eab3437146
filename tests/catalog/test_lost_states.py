"""A file whose state in `files` is lost is read by nobody: acts on its crawl say so."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from verbs_here import call_here
from warc_sets import OTHER, ArchiveFile, Rec, write_set

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

"""A crawl is not taken out by files that are another's, though their sidecars fit them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from kill_loop import write_crawls
from store_chain import call


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two crawls; a file of each, and its sidecar, is in the place of the other's."""
    write_crawls(tmp_path, 1)
    store = tmp_path / "store"
    assert call("init", "--store", store).exit_code == 0
    for crawl, folder in (("c1", "one"), ("c2", "two")):
        assert call("ingest", tmp_path / folder, "--crawl", crawl, "--store", store).exit_code == 0
        assert call("crawl", "commit", crawl, "--store", store).exit_code == 0
    for end in ("", ".sidecar.parquet"):
        one, two = (store / "archive" / crawl / f"0.warc.gz{end}" for crawl in ("c1", "c2"))
        shutil.move(one, tmp_path / "kept")
        shutil.move(two, one)
        shutil.move(tmp_path / "kept", two)
    return store


@pytest.mark.parametrize("words", [("remove", "c1"), ("purge", "c1", "--references", "promote")])
def test_exchanged_files_stay(words: tuple[str, ...], store: Path) -> None:
    before = {path: path.read_bytes() for path in (store / "archive").rglob("*.gz")}
    answer = call("crawl", *words, "--store", store)
    assert answer.exit_code == 3
    assert "/0.warc.gz" in answer.err
    assert {path: path.read_bytes() for path in (store / "archive").rglob("*.gz")} == before

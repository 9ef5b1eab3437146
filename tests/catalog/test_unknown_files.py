"""Nothing is taken away while the archive holds files that the catalogue does not know."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kill_loop import write_crawls
from store_chain import ANY_SAVING, call


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """Rows as they were before the third crawl landed, which refers to the others: put back old."""
    return Path(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("made")
    write_crawls(tmp_path, 1)
    store = tmp_path / "store"

    def act(*words: object) -> None:
        assert call(*words, "--store", store).exit_code == 0, words

    act("init")
    act("ingest", tmp_path / "one", "--crawl", "c1")
    act("ingest", tmp_path / "two", "--crawl", "c2")
    act("dedupe", "--all", *ANY_SAVING)
    shutil.copy(store / "rows.sqlite", tmp_path / "old.sqlite")
    act("ingest", tmp_path / "three", "--crawl", "c3")
    act("dedupe", "--all", "--drop-old", "--grace", "0", *ANY_SAVING)
    shutil.copy(tmp_path / "old.sqlite", store / "rows.sqlite")
    return store


@pytest.mark.parametrize(
    "words",
    [
        ("withdraw", "http://example.org/1", "--reason", "asked", "--by", "somebody"),
        ("crawl", "purge", "c1", "--references", "promote"),
        ("crawl", "cancel", "c1"),
        ("dedupe", "c2", *ANY_SAVING),
        ("dedupe", "--all", "--drop-old", "--grace", "0", *ANY_SAVING),
    ],
    ids=["withdraw", "purge", "cancel", "dedupe", "drop-old"],
)
def test_an_unknown_file_is_named_and_nothing_changed(words: tuple[str, ...], store: Path) -> None:
    archive = store / "archive"
    before = {path: path.read_bytes() for path in archive.rglob("*.warc.gz")}
    answer = call(*words, "--store", store)
    assert answer.exit_code == 3
    assert "c3/" in answer.err
    assert "does not know this file" in answer.err
    assert {path: path.read_bytes() for path in archive.rglob("*.warc.gz")} == before


def test_a_generation_that_rows_do_not_know_counts_where_it_alone_is_whole(tmp_path: Path) -> None:
    """Rows as they were before dedupe, and a landed file cut: what refers to the original is in
    the generation that looks like a leftover."""
    write_crawls(tmp_path, 1)
    store = tmp_path / "store"
    archive = store / "archive"

    def act(*words: object) -> None:
        assert call(*words, "--store", store).exit_code == 0, words

    act("init")
    act("ingest", tmp_path / "one", "--crawl", "c1")
    act("ingest", tmp_path / "two", "--crawl", "c2")
    shutil.copy(store / "rows.sqlite", tmp_path / "old.sqlite")
    act("dedupe", "--all", *ANY_SAVING)
    shutil.copy(tmp_path / "old.sqlite", store / "rows.sqlite")
    [rewritten, *_] = sorted((archive / "c2" / "g2").glob("*.warc.gz"))
    landed = archive / "c2" / rewritten.name
    landed.write_bytes(landed.read_bytes()[:100])
    before = {path: path.read_bytes() for path in archive.rglob("*.warc.gz")}
    who = ("--reason", "asked", "--by", "somebody")
    answer = call("withdraw", "http://example.org/1", *who, "--store", store)
    assert answer.exit_code == 3
    assert "/g2/" in answer.err
    assert "the catalogue does not know this file" in answer.err
    assert {path: path.read_bytes() for path in archive.rglob("*.warc.gz")} == before


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (("crawls",), "the catalogue does not have the crawl of this file"),
        (("crawls", "files", "captures", "digests"), "does not know this file"),
    ],
    ids=["crawls", "all rows"],
)
@pytest.mark.parametrize("options", [(), ("--drop-old",), ("--plan",)], ids=["", "drop", "plan"])
def test_dedupe_of_all_says_which_files_are_of_no_crawl(
    store: Path, tables: tuple[str, ...], why: str, options: tuple[str, ...]
) -> None:
    """It had nothing to do, and exited with 0."""
    archive = store / "archive"
    before = {path: path.read_bytes() for path in archive.rglob("*.warc.gz")}
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        for table in tables:
            rows.execute(f"DELETE FROM {table}")
    answer = call("dedupe", "--all", *options, "--store", store)
    assert answer.exit_code == 3
    assert why in answer.err
    assert "nothing was changed" in answer.err
    assert {path: path.read_bytes() for path in archive.rglob("*.warc.gz")} == before


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "list"),
        ("crawl", "show", "c2"),
        ("crawl", "stats", "c2"),
        ("crawl", "commit", "c2"),
        ("ls", "c2"),
        ("ls", "default"),
        ("cdx", "default", "--format", "wget"),
        ("export-wacz", "c2", "-o", "c2.wacz"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("lost", [("c2",), ("c1", "c2")], ids=["one crawl", "all crawls"])
def test_a_crawl_whose_row_is_lost_is_named_by_a_file(
    words: tuple[str, ...], lost: tuple[str, ...], store: Path
) -> None:
    """`crawl list` printed nothing, and exited with 0."""
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        for crawl in lost:
            rows.execute("DELETE FROM crawls WHERE row=?", (crawl.encode(),))
    answer = call(*words, "--store", store)
    assert answer.exit_code == 3
    files = ["c2/0.warc.gz"] if "c2" in words else [f"{crawl}/0.warc.gz" for crawl in lost]
    for file in files if words[1] == "list" else files[:1]:
        assert f"{file}: the catalogue does not have the crawl of this file" in answer.err
    assert "`pinakes fsck --repair` rebuilds it" in answer.err


def test_repair_makes_anew_the_crawls_whose_rows_are_lost(store: Path) -> None:
    shutil.move(store / "archive" / "c3", store.parent / "c3")
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        rows.execute("DELETE FROM crawls")
    assert "c1" not in call("crawl", "list", "--store", store).out
    assert call("fsck", "--repair", "--store", store).exit_code == 1
    answer = call("crawl", "list", "--store", store)
    assert (answer.exit_code, answer.err) == (0, "")
    crawls = [line.split()[:2] for line in answer.out.splitlines()]
    assert crawls == [["c1", "open"], ["c2", "open"]]


def test_a_crawl_is_not_exported_without_a_file_of_it(tmp_path: Path) -> None:
    """Its row is lost; what is exported would lack it."""
    write_crawls(tmp_path, 1)
    store = tmp_path / "store"
    assert call("init", "--store", store).exit_code == 0
    assert call("ingest", tmp_path / "one", "--crawl", "c1", "--store", store).exit_code == 0
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        rows.execute("DELETE FROM files WHERE row=?", (b"c1/0.warc.gz",))
    answer = call("export-wacz", "c1", "-o", tmp_path / "c1.wacz", "--store", store)
    assert (answer.exit_code, "c1/0.warc.gz" in answer.err) == (3, True)
    assert not (tmp_path / "c1.wacz").exists()


def test_once_it_is_moved_away_the_act_goes_through(store: Path) -> None:
    shutil.move(store / "archive" / "c3", store.parent / "c3")
    words = ("withdraw", "http://example.org/1", "--reason", "asked", "--by", "somebody")
    answer = call(*words, "--store", store)
    assert "does not know this file" not in answer.err

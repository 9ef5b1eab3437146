"""fsck of files whose row in the catalogue is lost: nothing goes, and they can be landed again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from kill_loop import write_crawls
from store_chain import ANY_SAVING, call

FILE, LATER = "c1/0.warc.gz", "c1/g2/0.warc.gz"
DROP = ("dedupe", "--all", "--drop-old", "--grace", "0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_crawls(folder, 1)
    store = folder / "store"
    acts = [
        ("init",),
        ("ingest", folder / "one", "--crawl", "c1"),
        ("ingest", folder / "two", "--crawl", "c2"),
        ("dedupe", "--all", *ANY_SAVING),
    ]
    for words in acts:
        assert call(*words, "--store", store).exit_code == 0, words
    return store


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


def lose_row(store: Path) -> None:
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        assert rows.execute("DELETE FROM files WHERE row=?", (FILE.encode(),)).rowcount


def fsck(store: Path, *options: str) -> str:
    answer = call("fsck", *options, "--store", store)
    assert answer.exit_code in (0, 1)
    return answer.out


def captures(store: Path) -> set[bytes]:
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows:
        return {row for (row,) in rows.execute("SELECT row FROM captures WHERE col='m:capture'")}


@pytest.mark.parametrize("options", [("--quick",), (), ("--full", "--repair")], ids=" ".join)
@pytest.mark.parametrize("sidecar", [True, False], ids=["sidecar", "no sidecar"])
def test_a_file_whose_row_is_lost_is_not_to_be_moved_away(
    store: Path, options: tuple[str, ...], sidecar: bool
) -> None:
    """Revisits in other files refer to it; `--full --repair` deleted the rows of its captures."""
    lose_row(store)
    if not sidecar:
        (store / "archive" / f"{FILE}.sidecar.parquet").unlink()
    before = captures(store)
    lines = fsck(store, *options).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        [FILE, "unknown-file"],
        [LATER, "unknown-file"],
    ]
    for line in lines:
        assert "do not move it away" in line
        assert ("its row in the catalogue is lost" in line) == (
            sidecar or line.startswith(LATER) or "--quick" not in options
        )
    assert "revisits in other files refer to" in lines[1]
    assert captures(store) == before


@pytest.mark.parametrize("dropped", [False, True], ids=["as landed", "first one dropped"])
def test_landed_again_as_it_says_nothing_is_lost(
    store: Path, tmp_path: Path, dropped: bool
) -> None:
    if dropped:
        assert call(*DROP, "--store", store).exit_code == 0
    before = captures(store)
    lose_row(store)
    stored = LATER if dropped else FILE
    said = fsck(store)
    assert f"{stored}: unknown-file" in said
    assert "as 0.warc.gz, and land it again: `pinakes ingest FOLDER --crawl c1`" in said
    again = tmp_path / "again"
    again.mkdir()
    shutil.copy(store / "archive" / stored, again / "0.warc.gz")
    assert call("ingest", again, "--crawl", "c1", "--store", store).exit_code == 0
    fsck(store, "--full", "--repair")
    landed, old = store / "archive" / FILE, store / "archive" / LATER
    if dropped:
        assert landed.read_bytes() == old.read_bytes()
    for path in sorted(old.parent.glob(f"{old.name}*")):
        shutil.move(path, tmp_path)
    assert call("dedupe", "c1", *ANY_SAVING, "--store", store).exit_code == 0
    assert fsck(store, "--full") == ""
    assert captures(store) == before


def cells(store: Path) -> dict[tuple[bytes, bytes], bytes]:
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows:
        found = rows.execute("SELECT row, col, value FROM captures ORDER BY ts")
        return {(row, bytes(col)): value for row, col, value in found if bytes(col) != b"d:pin"}


@pytest.mark.parametrize("dropped", [False, True], ids=["old ones there", "old ones dropped"])
def test_where_more_is_lost_of_a_row_it_says_what_adds_the_rest(store: Path, dropped: bool) -> None:
    if dropped:
        assert call(*DROP, "--store", store).exit_code == 0
    before = cells(store)
    row = max(row for row, _ in before)
    with closing(sqlite3.connect(store / "rows.sqlite")) as rows, rows:
        rows.execute("DELETE FROM captures WHERE row=?", (row,))
    [line] = [line for line in fsck(store, "--repair").splitlines() if "rows-missing" in line]
    rest = "mended: write the rows again from the sidecar"
    if not dropped:
        rest += "; then --full --repair adds their places in older generations"
    assert line.endswith(rest)
    assert cells(store).keys() == before.keys()
    fsck(store, "--full", "--repair")
    # Where the first generation lay is lost with it.
    assert (cells(store) == before) == (not dropped)


def test_a_stranger_may_be_moved_away(store: Path) -> None:
    shutil.copy(store / "archive" / FILE, store / "archive" / "c1" / "stranger.warc.gz")
    assert "stranger.warc.gz: unknown-file" in fsck(store)
    assert "or move it away" in fsck(store)

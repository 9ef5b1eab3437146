"""`restore_files` gives back what `dedupe_files` has made revisits of."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_at
from scenes import write_crawl

from pinakes import dedupe_files, restore_files
from pinakes.errors import ConfigError, InputRefused, UnresolvedReference

NAMES = ("1.warc.gz", "2.warc.gz")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of a site, `c1` and `c2`, and `deduped`."""
    folder = tmp_path_factory.mktemp("made")
    for crawl in (1, 2):
        write_crawl(folder / f"c{crawl}", crawl, files=1)
        (folder / f"c{crawl}" / "part-0.warc.gz").rename(folder / f"{crawl}.warc.gz")
    files = [folder / "1.warc.gz", folder / "2.warc.gz"]
    assert dedupe_files(files, folder / "deduped").revisits == 8
    return folder


def inflated(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes())


def is_given_back(made: Path, restored: Path, *names: str) -> bool:
    """Whether the files hold the same bytes; how they are compressed may differ."""
    return all(
        gzip.decompress((made / name).read_bytes())
        == gzip.decompress((restored / name).read_bytes())
        for name in names
    )


def test_all_is_given_back(made: Path, tmp_path: Path) -> None:
    planned = restore_files(made / "deduped", None)
    assert (planned.restored, list(tmp_path.iterdir())) == (8, [])
    result = restore_files(made / "deduped", tmp_path / "restored")
    assert (result.restored, result.problems) == (8, ())
    assert [(file.restored, file.left) for file in result.files] == [(0, {}), (8, {})]
    assert is_given_back(made, tmp_path / "restored", *NAMES)


def test_originals_elsewhere(made: Path, tmp_path: Path) -> None:
    alone = made / "deduped" / "2.warc.gz"
    result = restore_files(alone, tmp_path / "without")
    assert (result.restored, {type(problem) for problem in result.problems}) == (
        0,
        {UnresolvedReference, InputRefused},
    )
    assert list((tmp_path / "without").iterdir()) == []
    assert restore_files([alone], tmp_path / "with", originals=made / "deduped").restored == 8
    assert is_given_back(made, tmp_path / "with", "2.warc.gz")


@pytest.mark.parametrize("number", range(2))
def test_killed_in_the_middle_it_goes_on(made: Path, tmp_path: Path, number: int) -> None:
    folder = tmp_path / "restored"

    def dies() -> None:
        restore_files(made / "deduped", folder, advance=kill_at(number))

    assert in_child(dies) == KILLED
    restore_files(made / "deduped", folder)
    assert is_given_back(made, folder, *NAMES)
    assert sorted(file.name for file in folder.iterdir()) == ["1.warc.gz", "2.warc.gz"]


def test_nothing_to_restore(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no archive files found"):
        restore_files(tmp_path, tmp_path / "restored")

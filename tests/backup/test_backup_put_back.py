"""An old generation that an act has dropped, and that somebody has put back, in a backup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from backup_scenes import back_up, fsck, opened, restore
from scenes import COLLECTION, Scene, make_scene, page
from store_chain import call
from taken_down import copied, holds_anywhere, land_site, put_back, uri, withdraw

from pinakes.catalog.file_records import read_generations
from pinakes.catalog.run_rows import RUNNING, set_run_state
from pinakes.catalog.sidecar import sidecar_name
from pinakes.hbase_schema.run_cells import RunState

FULL, SECOND = "c1/site.warc.gz", "c2/site.warc.gz"
SECRET = page(0)[-200:]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The site, and `kept`, which has its archive.  Only read it."""
    with make_scene(tmp_path_factory.mktemp("made") / "made", ()) as scene:
        land_site(scene, 1, 2)
        shutil.copytree(scene.archive.folder, scene.folder / "kept")
        yield scene


@pytest.fixture
def site(made: Scene, tmp_path: Path) -> Iterator[Scene]:
    with copied(made.folder, tmp_path / "site") as scene:
        yield scene


def act_of_drop(scene: Scene, name: str) -> str:
    return read_generations(scene.rows, name)[1].dropped or ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_withdrawal_dropped_is_named_and_not_copied(
    jobs: int, site: Scene, tmp_path: Path
) -> None:
    withdraw(site, uri(0))
    put_back(site, FULL, sidecar_name(FULL), SECOND)
    report = back_up(site, tmp_path / "backup", jobs=jobs)
    assert [problem.file for problem in report.problems] == [FULL, SECOND]
    for problem in report.problems:
        assert "not copied: withdraw-" in str(problem)
        assert "`pinakes withdraw` the same again" in str(problem)
        assert "--drop-old --grace 0` deletes it" in str(problem)
    assert holds_anywhere(tmp_path / "backup", SECRET) == []
    assert not (tmp_path / "backup" / "archive" / sidecar_name(FULL)).exists()
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as scene:
        assert fsck(scene) == []
    # It stays in the archive: somebody has to look at it.
    assert (site.archive.folder / FULL).exists()


def test_what_drop_old_dropped_is_copied_and_named(site: Scene, tmp_path: Path) -> None:
    store = site.folder / "store"
    words = ["--all", "--collection", COLLECTION, "--drop-old", "--grace", "0"]
    assert f"dropped {SECOND}" in call("dedupe", *words, "--store", store).out
    put_back(site, SECOND)
    done = call("backup", tmp_path / "backup", "--store", store)
    assert done.exit_code == 3
    assert f"{SECOND}: superseded generation, copied as it is: drop-old has dropped it" in done.err
    assert f"`pinakes dedupe {' '.join(words)}` deletes it" in done.err
    assert (tmp_path / "backup" / "archive" / SECOND).read_bytes() == (
        site.archive.folder / SECOND
    ).read_bytes()


def test_nothing_is_said_while_the_act_has_not_ended(site: Scene, tmp_path: Path) -> None:
    """It notes what it drops, and then deletes it."""
    withdraw(site, uri(0))
    put_back(site, FULL, sidecar_name(FULL))
    set_run_state(site.rows, act_of_drop(site, FULL), RunState(state=RUNNING))
    assert back_up(site, tmp_path / "backup").problems == []
    assert (tmp_path / "backup" / "archive" / FULL).exists()
    assert not any("generation-back" in found for found in fsck(site))


@pytest.mark.parametrize("is_back", [False, True], ids=["gone", "put back"])
def test_what_is_dropped_after_the_snapshot_is_copied(
    is_back: bool, site: Scene, tmp_path: Path
) -> None:
    """The rows of the backup have it as one that is there."""
    steps: list[str] = []

    def at(step: str) -> None:
        steps.append(step)
        if steps.count("copied") == 1 and step == "copied":
            withdraw(site, uri(0))
            if is_back:
                put_back(site, FULL)

    report = back_up(site, tmp_path / "backup", at=at)
    assert (report.problems, act_of_drop(site, FULL)[:9]) == ([], "withdraw-")
    assert (tmp_path / "backup" / "archive" / FULL).exists()
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as scene:
        assert fsck(scene) == []

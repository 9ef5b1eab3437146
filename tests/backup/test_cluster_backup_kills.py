"""Backups of a cluster, and restorings, killed at each step and at any moment, and run again."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from cluster_scenes import (
    PINAKES,
    Cell,
    cells,
    checksums,
    killed,
    left_over,
    make_store,
    options,
    room_on,
    scene_on,
)
from scenes import write_crawl

from pinakes.acts.actor import Actor
from pinakes.cli import main
from pinakes.ingest.fsck.check import Fsck

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

pytestmark = pytest.mark.faults
Settings = dict[str, str]
BACKUP_STEPS = (
    *("pinned", "begun", "stage made", "table held", "files held", "unpinned"),
    *("snapshot taken", "table exported", "rows exported", "copied", "listed", "whole"),
    *("tables let go", "files let go", "stage removed", "dropped", "ended"),
)
RESTORE_STEPS = (
    *("restoring begun", "tables copied", "tables named", "table brought in", "table made"),
    *("tables made", "rows restored", "begun", "file restored", "files restored", "settled"),
    "visible",
)


class Lived(NamedTuple):
    """A store with a run of dedupe behind it, and what is in it."""

    settings: Settings
    rows: set[Cell]
    files: dict[str, str]


@pytest.fixture(scope="module")
def lived(
    shared_cluster: RunningCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lived]:
    folder = tmp_path_factory.mktemp("lived")
    for crawl in (1, 2):
        write_crawl(folder / "crawls" / f"c{crawl}", crawl)
    with shared_cluster.used(alone=False), room_on(shared_cluster, folder) as settings:
        make_store(settings)
        with scene_on(folder, settings) as scene:
            scene.land(1)
            scene.land(2)
            scene.dedupe()
            rows, files = cells(scene.rows), checksums(scene)
        yield Lived(settings, rows, files)


@pytest.fixture(scope="module")
def backup(lived: Lived, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("backup")
    place = str(folder / "backup")
    assert main(["backup", place, *options(lived.settings, folder)]) == 0
    return place


@pytest.fixture
def elsewhere(shared_cluster: RunningCluster, tmp_path: Path) -> Iterator[Settings]:
    with shared_cluster.used(alone=False), room_on(shared_cluster, tmp_path) as made:
        yield made


def check_restored(lived: Lived, elsewhere: Settings, folder: Path) -> None:
    with scene_on(folder, elsewhere) as new:
        assert cells(new.rows) == lived.rows
        assert checksums(new) == lived.files
        assert list(Fsck(new.rows, new.archive, Actor(), full=True).findings()) == []
        assert left_over(elsewhere, new.rows) == []


def check_backup(lived: Lived, place: str, elsewhere: Settings, folder: Path) -> None:
    with scene_on(folder, lived.settings) as scene:
        assert left_over(lived.settings, scene.rows) == []
    assert main(["backup", place, "--verify"]) == 0
    assert main(["restore-backup", place, *options(elsewhere, folder)]) == 0
    check_restored(lived, elsewhere, folder)


@pytest.mark.parametrize("step", BACKUP_STEPS)
def test_a_backup_killed_at_a_step(
    lived: Lived, elsewhere: Settings, tmp_path: Path, step: str
) -> None:
    place = str(tmp_path / "backup")
    assert killed("backup", place, lived.settings, step)
    # Behind the last step nothing is left to be done: it is refused.
    expected = 2 if step == "ended" else 0
    assert main(["backup", place, *options(lived.settings, tmp_path)]) == expected
    check_backup(lived, place, elsewhere, tmp_path)


@pytest.mark.parametrize("step", RESTORE_STEPS)
def test_a_restoring_killed_at_a_step(
    lived: Lived, backup: str, elsewhere: Settings, tmp_path: Path, step: str
) -> None:
    assert killed("restore", backup, elsewhere, step)
    expected = 2 if step == "visible" else 0
    assert main(["restore-backup", backup, *options(elsewhere, tmp_path)]) == expected
    check_restored(lived, elsewhere, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_both_killed_at_any_moment(
    lived: Lived, elsewhere: Settings, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    place = str(tmp_path / "backup")
    until_done(["backup", place, *options(lived.settings, tmp_path)], dice)
    until_done(["restore-backup", place, *options(elsewhere, tmp_path)], dice)
    with scene_on(tmp_path, lived.settings) as scene:
        assert left_over(lived.settings, scene.rows) == []
    check_restored(lived, elsewhere, tmp_path)


def until_done(words: list[str], dice: random.Random) -> None:
    """Run a verb, killed twice at some moment, and then to its end."""
    for _ in range(2):
        with subprocess.Popen([*PINAKES, *words]) as process:
            try:
                process.wait(dice.uniform(1, 40))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        assert process.returncode in (0, 2, -signal.SIGKILL)
    assert main(words) in (0, 2)

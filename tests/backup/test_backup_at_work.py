"""Backups while others land, deduplicate, drop and take out, in processes of their own."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agreement import check_marks, check_references
from backup_scenes import (
    LEAVING,
    back_up,
    cells,
    current_files,
    fsck,
    opened,
    restore,
    states,
    untouched,
)
from scenes import Scene, write_crawl

from pinakes.acts.actor import Actor
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Conflict

pytestmark = pytest.mark.slow
BACKUPS = 2


@contextmanager
def at_work(scene: Scene, seed: int) -> Iterator[None]:
    """Processes that land, deduplicate and take out until this ends; all of them end well."""
    stop = scene.folder / "stop"
    children = []
    for number, work in enumerate((_land_more, _dedupe, _take_out_and_land)):
        child = os.fork()
        if child == 0:
            code = 70
            try:
                dice = random.Random(f"{seed} {number}")
                while not stop.exists():
                    try:
                        work(scene, dice)
                    except Conflict:
                        time.sleep(dice.uniform(0, 0.05))
                code = 0
            except BaseException as error:  # noqa: BLE001 (nothing may leave the child)
                sys.stderr.write(f"{work.__name__}: {type(error).__name__}: {error}\n")
            finally:
                os._exit(code)
        children.append(child)
    try:
        yield
    finally:
        stop.touch()
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0, 0, 0]


def _land_more(scene: Scene, dice: random.Random) -> None:
    number = dice.randrange(10, 10_000)
    write_crawl(scene.crawls / f"c{number}", number % 10, pages=4, files=1)
    scene.land(number)
    time.sleep(dice.uniform(0.1, 0.5))


def _dedupe(scene: Scene, dice: random.Random) -> None:
    scene.dedupe(act=f"dedupe-{dice.randrange(1 << 30)}", grace_ms=0)
    time.sleep(dice.uniform(0.1, 0.3))


def _take_out_and_land(scene: Scene, dice: random.Random) -> None:
    Remover(scene.rows, scene.archive, Actor()).take_out(LEAVING, CANCEL)
    scene.land(2)
    time.sleep(dice.uniform(0.1, 0.3))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.large) for seed in range(1, 20))]
)
def test_what_had_ended_is_there_and_nothing_is_half_there(
    scene: Scene, tmp_path: Path, seed: int
) -> None:
    scene.land(1)
    scene.land(2)
    for crawl in range(3, 3 + BACKUPS):
        write_crawl(scene.crawls / f"c{crawl}", crawl)
    with at_work(scene, seed):
        for number in range(BACKUPS):
            scene.land(3 + number)
            before = cells(scene.folder / "store" / "rows.sqlite")
            report = back_up(scene, tmp_path / f"backup-{number}")
            after = cells(scene.folder / "store" / "rows.sqlite")
            assert report.problems == []
            done = restore(tmp_path / f"backup-{number}", tmp_path / f"new-{number}")
            assert done.problems == []
            restored = cells(tmp_path / f"new-{number}" / "store" / "rows.sqlite")
            kept = untouched(before, after)
            assert len(kept) > 50
            assert kept <= restored
            with opened(tmp_path / f"new-{number}") as new:
                assert fsck(new) == []
                check_references(new)
                check_marks(new)
                known = states(new)
                for crawl in (1, *range(3, 4 + number)):
                    assert known[f"c{crawl}/part-0.warc.gz"][0] == "stored"
                    assert known[f"c{crawl}/part-1.warc.gz"][0] == "stored"
    # The store itself has come to no harm.
    check_references(scene)
    assert not (scene.folder / "store" / "backups").exists() or not list(
        (scene.folder / "store" / "backups").iterdir()
    )
    assert current_files(scene)

"""Dedupe beside landing and removal, in processes of their own: no reference dangles."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import pytest
from agreement import check_references
from scenes import COLLECTION, Scene, write_crawl

from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import scan_entries
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Conflict

pytestmark = pytest.mark.slow
_ATTEMPTS = 200


def until_free(work: Callable[[], object]) -> None:
    """Again while somebody else is at work; with other errors, give up."""
    for _ in range(_ATTEMPTS):
        try:
            work()
        except Conflict:
            time.sleep(random.uniform(0.01, 0.05))
        else:
            return
    raise AssertionError("never had its turn")


def together(*works: Callable[[], object]) -> list[int]:
    """Run each in a forked process of its own; their exit codes."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                random.seed(os.getpid())
                until_free(work)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize("runner", [None, "here"], ids=["in-process", "by-tasks"])
@pytest.mark.parametrize("seed", range(4))
def test_dedupe_beside_landing_and_removal(scene: Scene, seed: int, runner: str | None) -> None:
    for crawl in (3, 4):
        write_crawl(scene.crawls / f"c{crawl}", crawl)
    for crawl in (1, 2, 3):
        scene.land(crawl)

    def remove() -> None:
        actor = Actor()
        Remover(scene.rows, scene.archive, actor).take_out("c2", CANCEL)

    works = [
        lambda: scene.dedupe(act=f"dedupe-{seed}-a", runner=runner),
        lambda: scene.dedupe(act=f"dedupe-{seed}-b", runner=runner),
        lambda: scene.land(4),
        remove,
    ]
    random.Random(seed).shuffle(works)
    assert together(*works) == [0, 0, 0, 0]
    check_references(scene)
    # What landed meanwhile takes part in the next run.
    scene.dedupe(act=f"dedupe-{seed}-c", runner=runner)
    assert check_references(scene) > 0
    assert not [
        entry.archive_file
        for entry in scan_entries(scene.rows)
        if entry.claim is not None and entry.claim.expires_ms
    ]


def test_two_dedupes_at_once_are_one(scene: Scene) -> None:
    scene.land(1)
    scene.land(2)
    runs = [lambda name=name: scene.dedupe(act=f"dedupe-{name}") for name in "ab"]
    assert together(*runs) == [0, 0]
    assert check_references(scene) == 8
    assert COLLECTION

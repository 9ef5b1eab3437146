"""What rots in a store is never the last copy that a verb deletes, and never given out as whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from rot_loop import BATCH, Scenes, play
from shared_cluster import RunningCluster
from stored_on_cluster import stores_on
from stored_things import Folders, Place

pytestmark = pytest.mark.slow
ROUNDS = 5_000
# Rounds that once found something: a take-down beside a rotten file, exchanged files, and rows that
# were put back old, before a take-down and before a run of dedupe.
TRIED = (15, 19, 53, 340)


def check(rounds: Iterable[int], folder: Path, place: Place) -> None:
    scenes, found = Scenes(folder), []
    for number in rounds:
        one = play(number, scenes, folder, place)
        if one.found:
            found.append("\n".join([f"round {number}, {one.moment}", *one.said, *one.found]))
    assert not found, "\n\n".join(found)


def test_few_rounds_lose_nothing(tmp_path: Path) -> None:
    check((*range(8), *TRIED), tmp_path, Folders())


@pytest.mark.large
@pytest.mark.parametrize("first", range(0, ROUNDS, BATCH))
def test_rounds_lose_nothing(first: int, tmp_path: Path) -> None:
    check(range(first, first + BATCH), tmp_path, Folders())


def test_a_round_on_a_cluster_loses_nothing(cluster: RunningCluster, tmp_path: Path) -> None:
    with stores_on(cluster, tmp_path) as place:
        check(range(1), tmp_path, place)

"""Verbs killed at random moments and run again leave the store that they leave undisturbed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from kill_loop import LIFE, WITHOUT_JOBS, Kill, killed, undisturbed

KILLS = 8
KILLS_A_STEP, BATCH = 2, 2


def said(kills: list[Kill], found: list[str]) -> str:
    """How many kills had effect, which, and what came of them."""
    changed = sum(kill.changed for kill in kills)
    lines = [f"{len(kills)} processes killed, {changed} when they had changed files", *found]
    return "\n".join([*lines, *map(str, kills)])


@pytest.mark.slow
def test_some_kills_leave_no_trace(tmp_path: Path) -> None:
    measured = undisturbed(tmp_path / "undisturbed", 0, WITHOUT_JOBS)
    kills, found = killed(tmp_path / "killed", 0, WITHOUT_JOBS, KILLS, measured)
    assert found == [], said(kills, found)


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("batch", range(10))
def test_kills_leave_no_trace(batch: int, tmp_path: Path) -> None:
    """520 kills in all; a seed that fails is named."""
    pytest.importorskip("mrjob")
    kills: list[Kill] = []
    found: list[str] = []
    for seed in range(1 + batch * BATCH, 1 + (batch + 1) * BATCH):
        measured = undisturbed(tmp_path / f"{seed}-undisturbed", seed, LIFE)
        folder = tmp_path / f"{seed}-killed"
        more_kills, more_found = killed(folder, seed, LIFE, KILLS_A_STEP * len(LIFE), measured)
        kills += more_kills
        found += (f"seed {seed}: {finding}" for finding in more_found)
        if not more_found:
            shutil.rmtree(folder)
        shutil.rmtree(tmp_path / f"{seed}-undisturbed")
    print(said(kills, []))
    assert found == [], said(kills, found)

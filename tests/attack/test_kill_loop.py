"""Verbs killed at random moments and run again leave the store that they leave undisturbed."""

from __future__ import annotations

from pathlib import Path

import pytest
from kill_loop import LIFE, WITHOUT_JOBS, Kill, Steps, killed, undisturbed

pytestmark = pytest.mark.slow


def said(kills: list[Kill], found: list[str]) -> str:
    """How many kills had effect, which, and what came of them."""
    changed = sum(kill.changed for kill in kills)
    first = f"{len(kills)} processes killed, {changed} of them when they had changed files"
    return "\n".join([first, *found, *map(str, kills)])


def check(folder: Path, seed: int, steps: Steps, kills: int) -> None:
    """With so many kills and without any the outcome is the same."""
    measured = undisturbed(folder / "undisturbed", seed, steps)
    effective, found = killed(folder / "killed", seed, steps, kills, measured)
    print(said(effective, found))
    assert found == [], f"seed {seed}: {said(effective, found)}"


def test_few_kills_leave_no_trace(tmp_path: Path) -> None:
    check(tmp_path, 0, WITHOUT_JOBS, kills=5)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(1, 11))
def test_kills_leave_no_trace(seed: int, tmp_path: Path) -> None:
    """600 kills in all; of those, some come when the process has ended."""
    check(tmp_path, seed, WITHOUT_JOBS, kills=5 * len(WITHOUT_JOBS))


@pytest.mark.large
@pytest.mark.parametrize("seed", range(11, 15))
def test_kills_leave_no_trace_with_jobs(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("mrjob")
    check(tmp_path, seed, LIFE, kills=2 * len(LIFE))

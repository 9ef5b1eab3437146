"""Acts on a store, killed at every step and run again: the state of one that was not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from killing import deaths
from scenes import At, Scene, in_scene, land_late_revisit, make_scene

pytestmark = pytest.mark.slow


def _land(scene: Scene, at: At) -> None:
    scene.land(1, at=at)


def _dedupe(**options: Any) -> Callable[[Scene, At], None]:
    def act(scene: Scene, at: At) -> None:
        scene.dedupe(at=at, **options)

    return act


def _nothing(scene: Scene) -> None:
    pass


def _land_both(scene: Scene) -> None:
    scene.land(1)
    scene.land(2)


class Killed(NamedTuple):
    """A scene, what is done with it and killed, and the number of its steps."""

    made: Callable[[Scene], None]
    act: Callable[[Scene, At], None]
    steps: int
    again: Callable[[Scene, At], None]
    whole: Callable[[Scene, At], None]
    """What nothing happened to."""
    layout: str = "gzip"
    stride: int = 1
    """Of steps that are killed elsewhere one by one; all in `make test-large`."""


DEDUPE, BY_TASKS = _dedupe(), _dedupe(runner="here")
LATE = _dedupe(act="dedupe-b")
KILLED = {
    # Of two files: claimed, in flight, rows, copied, facts, sidecar, file, stored, visible.
    "landing": Killed(_nothing, _land, 18, _land, _land),
    # Leased; noted as decided on, decided, pinned; for each of two files: rewritten, checked,
    # sidecar published, published, locations, marked, moved; reported; lease released.
    "dedupe": Killed(_land_both, DEDUPE, 20, DEDUPE, DEDUPE),
    "dedupe in Zstandard": Killed(_land_both, DEDUPE, 20, DEDUPE, DEDUPE, "packed dictionary", 2),
    # Leased; noted as decided on, decided, pinned; wave written, validated, noted; for each of two
    # files: sidecar published, published, locations, marked, moved; wave committed; reported;
    # lease released.
    "dedupe by tasks": Killed(_land_both, BY_TASKS, 20, BY_TASKS, DEDUPE),
    "dedupe by tasks, then in process": Killed(_land_both, BY_TASKS, 20, DEDUPE, DEDUPE, stride=2),
    "dedupe in process, then by tasks": Killed(_land_both, DEDUPE, 20, BY_TASKS, DEDUPE, stride=2),
    # Leased; of one file seven steps as above; of the run itself: noted as decided on, decided,
    # pinned, reported; lease released.
    "what a late revisit refers to is restored": Killed(land_late_revisit, LATE, 13, DEDUPE, LATE),
}


def _state(folder: Path, act: Callable[[Scene, At], None]) -> dict[str, object]:
    with make_scene(folder, ()) as scene:
        act(scene, lambda step: None)
        return scene.state()


EACH = [pytest.param(killed, killed.stride, id=name) for name, killed in KILLED.items()] + [
    pytest.param(killed, 1, id=f"{name}, each step", marks=pytest.mark.large)
    for name, killed in KILLED.items()
    if killed.stride > 1
]


@pytest.mark.parametrize(("killed", "stride"), EACH)
def test_killed_at_every_step_and_run_again(tmp_path: Path, killed: Killed, stride: int) -> None:
    made = tmp_path / "made"
    with make_scene(tmp_path / "whole", layout=killed.layout) as scene:
        killed.made(scene)
        killed.whole(scene, lambda step: None)
        whole = scene.state()
    with make_scene(made, layout=killed.layout) as scene:
        killed.made(scene)
    for step, folder, _ in deaths(
        tmp_path, in_scene(killed.act), made=made, stride=stride, more_than=killed.steps - 1
    ):
        assert _state(folder, killed.again) == whole, f"killed at step {step}"
    assert step == killed.steps

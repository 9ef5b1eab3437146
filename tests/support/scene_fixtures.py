"""Fixtures of tests that work on scenes: their conftest.py imports them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from scenes import Scene, make_scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty store, and a folder with two crawls of one small site."""
    with make_scene(tmp_path) as made:
        yield made


@pytest.fixture
def landed(scene: Scene) -> Scene:
    """Both crawls in the store."""
    scene.land(1)
    scene.land(2)
    return scene


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The state of such a store behind a run of dedupe that nothing happened to."""
    with make_scene(tmp_path_factory.mktemp("undisturbed")) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        return scene.state()


@pytest.fixture
def in_child() -> Callable[[Callable[[], object]], int]:
    """Run a function in a forked process; the exit code it ended with, 0 for none."""

    def run(work: Callable[[], object]) -> int:
        child = os.fork()
        if child == 0:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 (nothing may leave the child)
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                os._exit(70)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    return run

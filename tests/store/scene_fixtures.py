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

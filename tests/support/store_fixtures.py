"""Fixtures of stores; the conftest.py of a folder of tests imports those that it uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from landed_stores import LandedStore
from scenes import Scene, copied_scene, make_scene


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    """An empty store, and what lands files in it."""
    made = LandedStore(tmp_path / "store")
    yield made
    made.close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty store, and a folder with two crawls of one small site."""
    with make_scene(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def landed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed scene with both crawls in the store, to be copied."""
    return _landed(tmp_path_factory, "gzip")


@pytest.fixture(scope="session")
def landed_in_frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in Zstandard, with a dictionary."""
    return _landed(tmp_path_factory, "packed dictionary")


def _landed(tmp_path_factory: pytest.TempPathFactory, layout: str) -> Path:
    folder = tmp_path_factory.mktemp("landed")
    with make_scene(folder, layout=layout) as made:
        made.land(1)
        made.land(2)
    return folder


@pytest.fixture
def landed(landed_folder: Path, tmp_path: Path) -> Iterator[Scene]:
    """Both crawls in the store."""
    with copied_scene(landed_folder, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The state of such a store behind a run of dedupe that nothing happened to."""
    return _undisturbed(tmp_path_factory, "gzip")


@pytest.fixture(scope="module")
def undisturbed_in_frames(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The same of one in Zstandard."""
    return _undisturbed(tmp_path_factory, "packed dictionary")


def _undisturbed(tmp_path_factory: pytest.TempPathFactory, layout: str) -> dict[str, object]:
    with make_scene(tmp_path_factory.mktemp("undisturbed"), layout=layout) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        return scene.state()

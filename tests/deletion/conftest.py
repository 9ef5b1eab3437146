"""An empty scene; and one with three crawls of a small site, deduplicated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scenes import Scene, make_scene
from store_fixtures import store  # noqa: F401
from taken_down import land_site


@pytest.fixture
def layout() -> str:
    """How the site's files are written; a test may have it otherwise."""
    return "gzip"


@pytest.fixture
def scene(tmp_path: Path, layout: str) -> Iterator[Scene]:
    with make_scene(tmp_path, (), layout=layout) as made:
        yield made


@pytest.fixture
def site(scene: Scene) -> Scene:
    land_site(scene, 1, 2, 3)
    return scene

"""Fixtures of the tests of exporting."""

from __future__ import annotations

import pytest
from scenes import Scene
from store_fixtures import landed, landed_folder, scene, store  # noqa: F401


@pytest.fixture
def deduplicated(landed: Scene) -> Scene:  # noqa: F811
    """Two crawls; eight records of the second refer to the first."""
    landed.dedupe()
    return landed

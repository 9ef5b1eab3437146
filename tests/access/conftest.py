"""An empty store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from landed_stores import LandedStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    """An empty store."""
    made = LandedStore(tmp_path / "store")
    yield made
    made.close()

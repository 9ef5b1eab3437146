"""Builders of stores and of archive files are plain modules beside other tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, *(HERE.parent / name for name in ("catalog", "row_store", "warc"))):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from landed_stores import LandedStore  # noqa: E402


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    """An empty store."""
    made = LandedStore(tmp_path / "store")
    yield made
    made.close()

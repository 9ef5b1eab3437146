"""Fixtures of the tests of exporting."""

from __future__ import annotations

from store_fixtures import landed, landed_folder, scene, store  # noqa: F401

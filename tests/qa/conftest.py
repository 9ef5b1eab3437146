"""A small store, empty or landed."""

from scene_fixtures import landed, scene  # noqa: F401

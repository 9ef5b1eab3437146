"""A small store, to be backed up and restored."""

from scene_fixtures import in_child, scene  # noqa: F401

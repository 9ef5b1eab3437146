"""A small store, and processes that end themselves at a step."""

from scene_fixtures import in_child, landed, scene, undisturbed  # noqa: F401

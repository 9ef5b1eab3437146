"""A small store, empty, landed, or undisturbed."""

from store_fixtures import landed, landed_folder, scene, undisturbed  # noqa: F401

"""A small store, empty or landed."""

from store_fixtures import landed, landed_folder, scene, store  # noqa: F401

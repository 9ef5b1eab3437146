"""A small store, empty or landed."""

from store_fixtures import landed, scene, store  # noqa: F401

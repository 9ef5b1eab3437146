"""A small store, empty, landed, or undisturbed."""

from store_fixtures import landed, scene, undisturbed  # noqa: F401

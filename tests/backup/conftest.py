"""A small store, to be backed up and restored."""

from store_fixtures import scene  # noqa: F401

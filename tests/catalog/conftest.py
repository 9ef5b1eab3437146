"""An empty store."""

from store_fixtures import store  # noqa: F401

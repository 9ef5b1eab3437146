"""An empty store, and one of two crawls."""

from store_fixtures import scene, store  # noqa: F401

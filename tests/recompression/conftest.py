"""A scene with two crawls that have not landed."""

from store_fixtures import scene  # noqa: F401

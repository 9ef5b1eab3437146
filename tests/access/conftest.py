"""Empty and landed stores."""

from store_fixtures import landed, scene, store  # noqa: F401

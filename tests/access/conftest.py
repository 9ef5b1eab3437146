"""Empty and landed stores."""

from store_fixtures import landed, landed_folder, scene, store  # noqa: F401

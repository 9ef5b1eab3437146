"""Empty and landed stores."""

from asked_pages import site  # noqa: F401
from store_fixtures import landed, landed_folder, scene, store  # noqa: F401

"""A small store, empty, landed, or undisturbed."""

from store_fixtures import (  # noqa: F401
    landed,
    landed_folder,
    landed_in_frames,
    scene,
    undisturbed,
    undisturbed_in_frames,
)

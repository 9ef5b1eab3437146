"""A small store, and processes that end themselves at a step."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "dedupe"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from scene_fixtures import in_child, landed, scene, undisturbed  # noqa: E402, F401

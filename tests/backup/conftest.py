"""The scenes of tests/store, to be backed up and restored."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "store", HERE.parent / "dedupe", HERE.parent / "row_store"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))

from scene_fixtures import in_child, scene  # noqa: E402, F401

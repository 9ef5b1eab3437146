"""What differs between two snapshots of a page: numbers with names, and words for people.

    images ─▶ masked ─▶ aligned, block by block ─▶ tiles ┐
    texts, boxes, resources ─▶ what is gone, what is new ├▶ features ─▶ reasons

Pure: snapshots and pixels in, values out.  Needs the extra `qa`.
"""

from __future__ import annotations

from pinakes.errors import MissingExtra

try:
    import cv2  # noqa: F401
    import numpy as np  # noqa: F401
    import rapidfuzz  # noqa: F401
except ImportError as error:
    raise MissingExtra(f"comparing needs {error.name}: pip install 'pinakes[qa]'") from error

"""What of the extra `qa` comparisons are made with, named where it is missing."""

from __future__ import annotations

from pinakes.errors import MissingExtra

try:
    import cv2
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view
    from numpy.typing import NDArray
    from rapidfuzz.distance import Indel
except ImportError as error:
    raise MissingExtra(f"comparing needs {error.name}: pip install 'pinakes[qa]'") from error

__all__ = ["Indel", "NDArray", "cv2", "np", "sliding_window_view"]

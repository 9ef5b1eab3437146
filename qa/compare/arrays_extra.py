"""Libraries of the extra `qa` for comparisons; MissingExtra names one that is missing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pinakes.extras import missing_extra

try:
    import cv2
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view
    from numpy.typing import NDArray
    from rapidfuzz.distance import Indel
    from threadpoolctl import ThreadpoolController
except ImportError as error:
    raise missing_extra(f"comparing pages needs {error.name}", "qa") from error

__all__ = ["Indel", "NDArray", "cv2", "np", "one_thread", "sliding_window_view"]

_LIBRARIES = ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Within it a matrix product uses one thread: for small ones several threads waste time
    waiting for one another."""
    limited: AbstractContextManager[object] = _LIBRARIES.limit(limits=1, user_api="blas")
    return limited

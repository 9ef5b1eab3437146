"""What of the extra `qa` comparisons are made with, named where it is missing."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pinakes.errors import MissingExtra

try:
    import cv2
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view
    from numpy.typing import NDArray
    from rapidfuzz.distance import Indel
    from threadpoolctl import ThreadpoolController
except ImportError as error:
    raise MissingExtra(f"comparing needs {error.name}: pip install 'pinakes[qa]'") from error

__all__ = ["Indel", "NDArray", "cv2", "np", "one_thread", "sliding_window_view"]

_LIBRARIES = ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Within it a matrix product has one thread: those of a small one would wait for another,
    and take the processor while they do."""
    limited: AbstractContextManager[object] = _LIBRARIES.limit(limits=1, user_api="blas")
    return limited

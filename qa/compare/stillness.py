"""What moves by itself: the reference page, loaded twice, tells where nothing is to be compared."""

from __future__ import annotations

from .arrays_extra import cv2, np
from .pixels import Mask, Pixels

_MOVED = 16
_AROUND = 5
_MOST = 0.5
"""More than this part of a page that differs from itself is no carousel: nothing is masked."""


def moving_parts(first: Pixels, again: Pixels) -> Mask:
    """True where two loads of one page differ, and a little around; at the first's size.

    Where they differ in height, what only one of them has is masked, too.
    """
    rows = min(first.shape[0], again.shape[0])
    columns = min(first.shape[1], again.shape[1])
    mask: Mask = np.zeros(first.shape[:2], dtype=np.bool_)
    mask[rows:] = True
    apart = cv2.absdiff(first[:rows, :columns], again[:rows, :columns]).max(axis=2) > _MOVED
    around: Mask = np.ones((_AROUND, _AROUND), dtype=np.uint8)
    mask[:rows, :columns] = cv2.dilate(apart.astype(np.uint8), around) > 0
    return mask if mask.mean() <= _MOST else np.zeros_like(mask)

"""Statistics that tell whether an image is empty.  Needs the extra `qa`."""

from __future__ import annotations

from pinakes.qa.compare.arrays_extra import cv2, np
from pinakes.qa.compare.pixels import Pixels

from .page_kind import ImageStatistics


def statistics_of(pixels: Pixels) -> ImageStatistics:
    """Statistics of all pixels; an image without pixels counts as empty."""
    if not pixels.size:
        return ImageStatistics(deviation=0.0, commonest=1.0)
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    counts = np.bincount(grey.reshape(-1), minlength=256)
    return ImageStatistics(deviation=float(grey.std()), commonest=float(counts.max() / grey.size))

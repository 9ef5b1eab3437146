"""Images as arrays: read, scaled down, masked; parts that move by themselves.

An array is rows × columns × 3, uint8, in OpenCV's order (blue, green, red).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

from pinakes.errors import MalformedRecord
from pinakes.qa.snapshot import Rect

from .arrays_extra import NDArray, cv2, np

Pixels: TypeAlias = NDArray[np.uint8]
_Value = TypeVar("_Value", bound=np.generic)
Mask: TypeAlias = NDArray[np.bool_]
"""Rows × columns: True where nothing is compared."""

SCALE = 2
"""Images are compared at half size: text remains, the smoothing of its edges does not."""

MAX_ROWS = 8_000
"""Of the original image; rows below are not compared."""
_MOVED = 16
_AROUND = 5
_MOST = 0.5
"""If more of a page differs from itself, nothing is masked: that is no carousel."""


def read_pixels(png: bytes) -> Pixels:
    """Decode, cut to `MAX_ROWS`, and scale down.

    Raises:
        MalformedRecord: not an image, or an empty one.
    """
    encoded = np.frombuffer(png, dtype=np.uint8)
    image: Any = cv2.imdecode(encoded, cv2.IMREAD_COLOR) if encoded.size else None
    if image is None:
        raise MalformedRecord("the screenshot cannot be decoded")
    image = image[:MAX_ROWS]
    height, width = (max(1, side // SCALE) for side in image.shape[:2])
    scaled: Pixels = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    return scaled


def same_width(first: Pixels, second: Pixels) -> tuple[Pixels, Pixels]:
    """Both as wide as the wider one, filled up with the colour of their last column."""
    width = max(first.shape[1], second.shape[1])
    return widened(first, width), widened(second, width)


def widened(values: NDArray[_Value], width: int) -> NDArray[_Value]:
    """Rows × columns, or × channels too, so many columns wide: the last one is repeated."""
    missing = width - values.shape[1]
    padding = ((0, 0), (0, missing), (0, 0))[: values.ndim]
    return np.pad(values, padding, mode="edge") if missing else values


def mask_of(shape: tuple[int, ...], regions: Iterable[Rect]) -> Mask:
    """True within these regions of the page, given in pixels of the image as it was taken."""
    mask: Mask = np.zeros(shape[:2], dtype=np.bool_)
    for rect in regions:
        top, left = max(0, rect.y) // SCALE, max(0, rect.x) // SCALE
        bottom = -(-(rect.y + rect.height) // SCALE)
        right = -(-(rect.x + rect.width) // SCALE)
        mask[top : max(top, bottom), left : max(left, right)] = True
    return mask


def moving_parts(first: Pixels, again: Pixels) -> Mask:
    """True where two loads of one page differ, and a few pixels around; in the first's size.

    If they differ in height, rows of only one of them are masked as well.
    """
    rows = min(first.shape[0], again.shape[0])
    columns = min(first.shape[1], again.shape[1])
    mask: Mask = np.zeros(first.shape[:2], dtype=np.bool_)
    mask[rows:] = True
    apart = cv2.absdiff(first[:rows, :columns], again[:rows, :columns]).max(axis=2) > _MOVED
    around: Mask = np.ones((_AROUND, _AROUND), dtype=np.uint8)
    mask[:rows, :columns] = cv2.dilate(apart.astype(np.uint8), around) > 0
    return mask if mask.mean() <= _MOST else np.zeros_like(mask)

"""What others measure, on the same pairs: Browsertrix's QA, and plain structural similarity.

Browsertrix Crawler (src/replaycrawler.ts) compares the screenshots of the viewport by pixelmatch
with a threshold of 0.1, and the texts by Levenshtein's distance; a match is 1 less the part that
differs.  Its users' guide calls a match from 0.9 good, and from 0.5 fair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from pinakes.qa.compare.arrays_extra import NDArray, cv2, np

_THRESHOLD = 0.1
_MOST_DELTA = 35215.0
"""The largest difference of two colours in YIQ, as pixelmatch has it."""

_VIEWPORT = 900
_SIDES = (320, 1000)
GOOD = 0.9


class Measured(NamedTuple):
    """From 0 to 1; 1 is the same."""

    screenshot: float
    text: float
    similarity: float


def measure(one: bytes | None, other: bytes | None, text: str, other_text: str) -> Measured:
    """Measure a pair of screenshots (PNG, whole pages) and texts."""
    if one is None or other is None:
        return Measured(0.0, _texts(text, other_text), 0.0)
    first, second = _read(one), _read(other)
    return Measured(
        _pixels(first[:_VIEWPORT], second[:_VIEWPORT]), _texts(text, other_text),
        _structural(first, second),
    )  # fmt: skip


def _read(png: bytes) -> NDArray[np.uint8]:
    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)


def _texts(one: str, other: str) -> float:
    longest = max(len(one), len(other))
    return 1 - Levenshtein.distance(one, other) / longest if longest else 1.0


def _pixels(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The part of the pixels that pixelmatch takes for the same.

    It calls a pixel another if its colour is further away in YIQ than the threshold, unless
    that is the smoothing of an edge (Vyšniauskas, 2009).
    """
    if one.shape != other.shape:
        return 0.0
    first, second = (_yiq(image) for image in (one, other))
    apart = first - second
    delta = 0.5053 * apart[0] ** 2 + 0.299 * apart[1] ** 2 + 0.1957 * apart[2] ** 2
    differs = delta > _MOST_DELTA * _THRESHOLD**2
    if not differs.any():
        return 1.0
    in_both = _is_even(first[0]) & _is_even(second[0])
    smoothed = _smoothed(first[0], in_both) | _smoothed(second[0], in_both)
    return float(1 - (differs & ~smoothed).mean())


def _yiq(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    blue, green, red = (image[:, :, channel].astype(np.float32) for channel in range(3))
    return np.stack(
        [
            red * 0.29889531 + green * 0.58662247 + blue * 0.11448223,
            red * 0.59597799 - green * 0.27417610 - blue * 0.32180189,
            red * 0.21147017 - green * 0.52261711 + blue * 0.31114694,
        ]
    )


def _beside(image: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The eight neighbours of all pixels, one after the other; at the edges the pixel's own."""
    around = np.pad(image, 1, mode="edge")
    rows, columns = image.shape
    for down in range(3):
        for right in range(3):
            if (down, right) != (1, 1):
                yield around[down : down + rows, right : right + columns]


def _is_even(image: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Pixels with three neighbours or more of their own brightness."""
    alike = np.zeros(image.shape, dtype=np.uint8)
    for neighbour in _beside(image):
        alike += neighbour == image
    return alike >= 3


def _smoothed(image: NDArray[np.float32], in_both: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels of an edge that is smoothed: beside a darker and a lighter one, of which one lies
    where both images are even."""
    darkest, lightest = np.zeros_like(image), np.zeros_like(image)
    at_dark, at_light = np.zeros_like(in_both), np.zeros_like(in_both)
    alike = np.zeros(image.shape, dtype=np.uint8)
    for neighbour, even in zip(_beside(image), _beside(in_both), strict=True):
        apart = neighbour - image
        alike += apart == 0
        darker, lighter = apart < darkest, apart > lightest
        darkest, lightest = np.minimum(darkest, apart), np.maximum(lightest, apart)
        at_dark, at_light = np.where(darker, even, at_dark), np.where(lighter, even, at_light)
    return (darkest < 0) & (lightest > 0) & (alike <= 2) & (at_dark | at_light)


def _structural(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Plain structural similarity of whole pages, brought to one size; nothing is aligned."""
    first, second = (
        cv2.cvtColor(
            cv2.resize(image, _SIDES, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY
        ).astype(np.float32)
        for image in (one, other)
    )
    blur = lambda image: cv2.GaussianBlur(image, (11, 11), 1.5)  # noqa: E731
    mean, other_mean = blur(first), blur(second)
    spread = blur(first * first) - mean**2
    other_spread = blur(second * second) - other_mean**2
    both = blur(first * second) - mean * other_mean
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean * other_mean + c1) * (2 * both + c2)
    below = (mean**2 + other_mean**2 + c1) * (spread + other_spread + c2)
    return float((above / below).mean())

"""What others measure, on the same pairs: Browsertrix's QA, and plain structural similarity.

Browsertrix Crawler (src/replaycrawler.ts) compares the screenshots of the viewport by pixelmatch
with a threshold of 0.1, and the texts by Levenshtein's distance; a match is 1 less the part that
differs.  Its users' guide calls a match from 0.9 good, and from 0.5 fair.
"""

from __future__ import annotations

from typing import NamedTuple

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
    smoothed = _smoothed(first[0], second[0]) | _smoothed(second[0], first[0])
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


def _neighbours(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """The eight beside each pixel; at the edges the pixel's own."""
    around = np.pad(image, 1, mode="edge")
    rows, columns = image.shape
    return np.stack(
        [
            around[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
            if (down, right) != (0, 0)
        ]
    )


def _smoothed(image: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Pixels of an edge that is smoothed: beside a darker and a lighter one, of which one lies in
    an even place in both images."""
    around = _neighbours(image)
    apart = around - image
    even = (apart == 0).sum(axis=0)
    darkest, lightest = apart.argmin(axis=0), apart.argmax(axis=0)
    has_both = (apart.min(axis=0) < 0) & (apart.max(axis=0) > 0) & (even <= 2)
    is_even = [((_neighbours(one) - one) == 0).sum(axis=0) >= 3 for one in (image, other)]
    in_both = _neighbours((is_even[0] & is_even[1]).astype(np.float32)) > 0
    at_dark = np.take_along_axis(in_both, darkest[None], axis=0)[0]
    at_light = np.take_along_axis(in_both, lightest[None], axis=0)[0]
    return has_both & (at_dark | at_light)


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

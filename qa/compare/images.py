"""The differences of two aligned images of a page: tiles, colours.

Structural similarity is that of Wang, Bovik, Sheikh and Simoncelli (2004), over grey levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from .alignment import Alignment, align
from .arrays_extra import NDArray, cv2, np
from .pixels import Mask, Pixels, same_width, widened

TILE_ROWS, TILE_COLUMNS = 8, 32
"""Of the scaled image; blocks that are aligned are of whole tiles."""

_WINDOW = (7, 7)
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_CHANGED_TILE = 12.0
"""Mean difference of a tile's colours from which it counts as changed."""

_COARSE = 20.0
"""Difference of a tile's mean colour."""

_CHANGED_PIXEL = 32
_BLANK_ROUGHNESS = 1.0
"""Standard deviation of grey levels below which a tile has nothing on it."""

_BINS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDifference:
    """Shares of the compared area, from 0 to 1, without masked tiles; by default of one image."""

    gone: float = 0.0
    """Blocks of rows of the first image that the second lacks."""
    new: float = 0.0
    """Rows of the second that the first lacks."""
    moved: float = 0.0
    """Rows of both at different heights."""
    similarity: float = 1.0
    """Mean structural similarity of what both have; 1 is the same."""
    similarity_low: float = 1.0
    """The same of the worst twentieth of tiles."""
    changed_tiles: float = 0.0
    changed_pixels: float = 0.0
    emptied_tiles: float = 0.0
    """Tiles that are empty now and were not."""
    filled_tiles: float = 0.0
    colour: float = 0.0
    """Hellinger distance of the colours of both, wherever they are; 0 is the same."""
    coarse: float = 0.0
    """Tiles whose mean colour differs: how a browser draws letters does not count."""
    largest_change: float = 0.0
    """The largest piece of changed tiles that touch, as a share of all tiles."""
    changes: tuple[tuple[int, int, int, int], ...] = ()
    """The largest pieces: x, y, width, height in the second image as it is compared."""


def compare_images(first: Pixels, second: Pixels, *, masked: Mask | None = None) -> ImageDifference:
    """Compare two images; `masked` is about the first, and moves with what it covers."""
    if first.shape == second.shape and not cv2.norm(first, second, cv2.NORM_INF):
        return ImageDifference()
    first, second = same_width(first, second)
    if masked is not None:
        masked = widened(masked, first.shape[1])  # as the image is
    found = align(first, second)
    tiles = _Tiles(first, second, found, masked)
    shift = found.second - found.first
    changed = tiles.changed | tiles.emptied | tiles.filled
    pieces = _pieces(changed, found)
    return ImageDifference(
        gone=found.gone,
        new=found.new,
        moved=float(np.mean(shift != 0)) if len(shift) else 0.0,
        similarity=tiles.mean(tiles.similarity, otherwise=0.0),
        similarity_low=tiles.low(tiles.similarity),
        changed_tiles=tiles.mean(changed),
        changed_pixels=tiles.mean(tiles.changed_pixels),
        emptied_tiles=tiles.mean(tiles.emptied),
        filled_tiles=tiles.mean(tiles.filled),
        colour=_colour_distance(first, second),
        coarse=tiles.mean(tiles.coarse),
        largest_change=pieces[0][0] / max(1, changed.size) if pieces else 0.0,
        changes=tuple(box for _, box in pieces[:20]),
    )


class _Tiles:
    """The tiles of rows that both images have; arrays are of tiles below and next to another."""

    def __init__(
        self, first: Pixels, second: Pixels, found: Alignment, masked: Mask | None
    ) -> None:
        one, other = first[found.first], second[found.second]
        difference = cv2.absdiff(one, other) if len(one) else one
        signed = cv2.subtract(one, other, dtype=cv2.CV_32F) if len(one) else one
        strongest = reduce(np.maximum, cv2.split(difference)) if len(one) else one[:, :, 0]
        grey = [_grey(image) for image in (one, other)]
        self.similarity = _by_tile(_structural_similarity(*grey))
        self.changed = _by_tile(difference).mean(axis=2) > _CHANGED_TILE
        apart = np.abs(_by_tile(signed))
        self.coarse = (apart.max(axis=2) if len(one) else self.changed) > _COARSE
        self.changed_pixels = _by_tile((strongest > _CHANGED_PIXEL).astype(np.float32))
        was_blank, is_blank = (_roughness(image) < _BLANK_ROUGHNESS for image in grey)
        self.emptied = is_blank & ~was_blank
        self.filled = was_blank & ~is_blank
        self._counts = np.ones(self.changed.shape, dtype=np.bool_)
        if masked is not None and masked.any():
            covered = _by_tile(masked.astype(np.uint8)[found.first])
            self._counts = covered == 0
            self.changed &= self._counts
            self.emptied &= self._counts
            self.filled &= self._counts

    def mean(self, tiles: NDArray[np.generic], *, otherwise: float = 0.0) -> float:
        """Over the tiles that count."""
        counted = tiles[self._counts]
        return float(counted.mean()) if counted.size else otherwise

    def low(self, tiles: NDArray[np.float32]) -> float:
        """The mean of the least twentieth."""
        counted = np.sort(tiles[self._counts])
        return float(counted[: max(1, counted.size // 20)].mean()) if counted.size else 0.0


def _grey(image: Pixels) -> NDArray[np.uint8]:
    if not image.size:
        return np.zeros(image.shape[:2], dtype=np.uint8)
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _by_tile(values: NDArray[np.generic]) -> NDArray[np.float32]:
    """Means of `TILE_ROWS` × `TILE_COLUMNS` values each; what is left at the right counts."""
    rows = values.shape[0] // TILE_ROWS
    columns = -(-values.shape[1] // TILE_COLUMNS)
    if not rows:
        return np.zeros((0, columns, *values.shape[2:]), dtype=np.float32)
    whole = np.asarray(widened(values, columns * TILE_COLUMNS), np.float32)
    tiles = cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA)
    return np.asarray(tiles, dtype=np.float32)


def _roughness(grey: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The standard deviation of each tile."""
    levels = _levels(grey)
    mean = _by_tile(levels)
    spread: NDArray[np.float32] = np.sqrt(np.maximum(_by_tile(levels * levels) - mean * mean, 0.0))
    return spread


def _levels(values: Any) -> NDArray[np.float32]:
    """Grey levels, or what is reckoned of them."""
    return np.asarray(values, dtype=np.float32)


def _structural_similarity(
    first: NDArray[np.uint8], second: NDArray[np.uint8]
) -> NDArray[np.float32]:
    if not first.size:
        return np.zeros(first.shape, dtype=np.float32)
    # Of integers: OpenCV sums floats in double precision, which takes twice as long.  In place
    # where possible: allocating an array costs as much as filling it.
    mean_1, mean_2 = (_levels(cv2.boxFilter(grey, cv2.CV_32F, _WINDOW)) for grey in (first, second))
    products = cv2.multiply(first, second, dtype=cv2.CV_16U)
    covariance = _levels(cv2.boxFilter(products, cv2.CV_32F, _WINDOW))
    variances = _levels(cv2.sqrBoxFilter(first, cv2.CV_32F, _WINDOW))
    variances += cv2.sqrBoxFilter(second, cv2.CV_32F, _WINDOW)
    means = mean_1 * mean_2
    covariance -= means
    mean_1 *= mean_1
    mean_2 *= mean_2
    mean_1 += mean_2
    variances -= mean_1
    means *= 2.0
    means += _C1
    covariance *= 2.0
    covariance += _C2
    mean_1 += _C1
    variances += _C2
    means *= covariance
    mean_1 *= variances
    means /= mean_1
    return means


def _colour_distance(first: Pixels, second: Pixels) -> float:
    one, other = (
        cv2.calcHist([image], [0, 1, 2], None, [_BINS] * 3, [0, 256] * 3)
        for image in (first, second)
    )
    return float(cv2.compareHist(one, other, cv2.HISTCMP_BHATTACHARYYA))


def _pieces(
    changed: NDArray[np.bool_], found: Alignment
) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Pieces of changed tiles that touch, largest first: tiles, and where they are."""
    if not changed.any():
        return []
    _, _, stats, _ = cv2.connectedComponentsWithStats(changed.astype(np.uint8), connectivity=8)
    pieces = []
    for left, top, width, height, tiles in stats[1:].tolist():
        rows = found.second[top * TILE_ROWS : (top + height) * TILE_ROWS]
        y, end = int(rows.min()), int(rows.max()) + 1
        pieces.append((tiles, (left * TILE_COLUMNS, y, width * TILE_COLUMNS, end - y)))
    return sorted(pieces, reverse=True)

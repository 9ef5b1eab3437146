"""Compares each picture of a page with the one in its place, which finds wrong pictures.

An element's box locates its picture in the image of the page.  Boxes of both pages are matched
in document order by tag and size; both pictures are scaled to one small size, so that a browser's
scaling and smoothing does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from pinakes.qa.snapshot import Box, Rect, Snapshot

from .arrays_extra import NDArray, cv2, np
from .drawings import show_alike, shown_by
from .pixels import SCALE, Mask, Pixels

_SIDE = 16
_LEAST = 24
"""CSS pixels; smaller ones are icons or lines, and not compared."""

_MOST = 400
_CHANGED = 0.05
"""Mean difference of colours, from 0 to 1, from which a picture counts as changed."""

_FLAT = 0.02
_CELLS = 8
_RASTER = 0.15
"""Difference of a cell from which it counts; scaling blurs edges otherwise."""

_LEAST_RASTER = 40
"""CSS pixels."""
_SHIFTS = (0, -1, 1)
"""Pixels of the image; browsers round places otherwise."""
_AHEAD = 12
_FRAMES = frozenset({"iframe", "frame"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureDifference:
    """Without pictures in frames, masked pictures, and those below the image."""

    changed: int
    """Pictures that look different from those in their places; none that is known to be the same,
    as both browsers have decoded it."""
    changed_share: float
    """Their share of the area of all compared pictures."""
    worst: float
    """The largest difference of a picture: the mean over its colours, from 0 to 1."""
    whole: float
    """The largest changed share of one picture."""
    raster: float
    """The same of `img` of one natural size: browsers draw their pixels alike."""
    flattened: int
    """Pictures that now have a single colour and had not."""
    gone: int
    """Pictures of the first without one of their tag and size in the second."""
    new: int
    gone_share: float
    """The part of the area of the first's pictures that is gone."""


def compare_pictures(
    first: Snapshot,
    second: Snapshot,
    pixels: tuple[Pixels, Pixels],
    *,
    masked: Mask | None = None,
) -> PictureDifference:
    """Compare the pictures of two pages in their images."""
    mine, theirs = _pictures(first, pixels[0]), _pictures(second, pixels[1])
    pairs, gone = _match(mine, theirs)
    new = len(theirs) - len(pairs)
    if masked is not None:
        pairs = [pair for pair in pairs if not _is_masked(pair[0].rect, masked)]
        gone = [box for box in gone if not _is_masked(box.rect, masked)]
    changed = flattened = 0
    area = changed_area = 0
    worst = whole = raster = 0.0
    for mine_box, their_box in pairs:
        one, other = mine_box.rect, their_box.rect
        area += one.area
        before, after = _small(pixels[0], one), _small(pixels[1], other)
        spread = float(after.std())
        flattened += spread <= _FLAT and float(before.std()) > max(_FLAT, 2 * spread)
        if _are_decoded_alike(shown_by(first, mine_box), shown_by(second, their_box)):
            continue
        if _is_raster(mine_box) and mine_box.text == their_box.text:
            raster = max(raster, _changed_raster(pixels, (one, other)))
        apart = _apart(before, after)
        worst = max(worst, apart)
        whole = max(whole, _changed_part(before, after))
        if apart > _CHANGED:
            changed += 1
            changed_area += one.area
    lost = sum(box.rect.area for box in gone)
    return PictureDifference(
        changed=changed,
        changed_share=changed_area / max(1, area),
        worst=worst,
        whole=whole,
        raster=raster,
        flattened=flattened,
        gone=len(gone),
        new=new,
        gone_share=lost / max(1, lost + area),
    )


def _pictures(snapshot: Snapshot, pixels: Pixels) -> list[Box]:
    """Elements that show a picture, in document order."""
    bottom = pixels.shape[0] * SCALE
    frames = [box.rect for box in snapshot.boxes if box.tag in _FRAMES]
    found = []
    for box in snapshot.boxes:
        rect = box.rect
        if box.kind != "image" or box.tag in _FRAMES or min(rect.width, rect.height) < _LEAST:
            continue
        if rect.x < 0 or rect.y < 0 or rect.y + rect.height > bottom:
            continue
        # One that covers all of a page is its background, which tiles compare.
        if rect.height > 2 * snapshot.viewport_height or any(_within(rect, f) for f in frames):
            continue
        found.append(box)
    return found[:_MOST]


def _is_raster(box: Box) -> bool:
    return (
        box.tag == "img"
        and bool(box.text)
        and min(box.rect.width, box.rect.height) >= _LEAST_RASTER
    )


def _are_decoded_alike(one: str, other: str) -> bool:
    """Whether two browsers have decoded the same, without letters: then their images differ by
    scaling alone, or by what elements show."""
    is_known = bool(one and other) and "~" not in one + other
    return is_known and one.count(":") == other.count(":") and show_alike(one, other)


def _within(rect: Rect, frame: Rect) -> bool:
    return (
        frame.x <= rect.x
        and frame.y <= rect.y
        and rect.x + rect.width <= frame.x + frame.width
        and rect.y + rect.height <= frame.y + frame.height
    )


def _is_masked(rect: Rect, masked: Mask) -> bool:
    part = masked[_rows(rect), _columns(rect)]
    return bool(part.size and part.any())


def _match(mine: Sequence[Box], theirs: Sequence[Box]) -> tuple[list[tuple[Box, Box]], list[Box]]:
    """Each with the next of its tag and size, in order; and those that have none."""
    pairs, gone = [], []
    expected = 0
    for box in mine:
        ahead = range(expected, min(len(theirs), expected + _AHEAD))
        at = next((n for n in ahead if _is_alike(box, theirs[n])), None)
        if at is None:
            gone.append(box)
        else:
            pairs.append((box, theirs[at]))
            expected = at + 1
    return pairs, gone


def _is_alike(one: Box, other: Box) -> bool:
    return one.tag == other.tag and all(
        abs(a - b) <= max(4, a // 20)
        for a, b in (
            (one.rect.width, other.rect.width),
            (one.rect.height, other.rect.height),
        )
    )


def _rows(rect: Rect) -> slice:
    return slice(rect.y // SCALE, -(-(rect.y + rect.height) // SCALE))


def _columns(rect: Rect) -> slice:
    return slice(rect.x // SCALE, -(-(rect.x + rect.width) // SCALE))


def _changed_raster(pixels: tuple[Pixels, Pixels], rects: tuple[Rect, Rect]) -> float:
    """The changed share, where the second is laid upon the first so that least of it differs."""
    before = _small(pixels[0], rects[0], _CELLS)
    least = 1.0
    for down, across in product(_SHIFTS, _SHIFTS):
        moved = replace(
            rects[1], x=max(0, rects[1].x + across * SCALE), y=max(0, rects[1].y + down * SCALE)
        )
        least = min(least, _changed_part(before, _small(pixels[1], moved, _CELLS), _RASTER))
        if not least:
            break
    return least


def _small(pixels: Pixels, rect: Rect, side: int = _SIDE) -> NDArray[np.float32]:
    """A picture at one size, from 0 to 1; one outside the image is black."""
    part = pixels[_rows(rect), _columns(rect)]
    if not part.size:
        return np.zeros((side, side, 3), dtype=np.float32)
    small = cv2.resize(part, (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32) / 255


def _changed_part(
    one: NDArray[np.float32], other: NDArray[np.float32], least: float = _CHANGED
) -> float:
    return float((np.abs(one - other).max(axis=2) > least).mean())


def _apart(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(np.abs(one - other).mean())

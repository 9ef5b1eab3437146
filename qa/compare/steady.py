"""What differs to the pixel between two sides of a page, in each of their looks; in one browser.

Both sides run by one clock and one seed, and what is the same is drawn the same.  A page that
differs from itself (a popup by timing, a shuffled list) is known by further looks at each side:
where two looks at one side differ, nothing is compared, and what some looks of both sides have
alike is no difference.  Below the image elements are compared in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from typing import NamedTuple, TypeVar

from pinakes.qa.snapshot import Box, Rect, Snapshot

from .arrays_extra import NDArray, cv2, np
from .drawn_elements import drawn_elements, is_masked
from .pairs import LoadedSnapshot
from .pixels import SCALE, Mask, Pixels, mask_of
from .texts import words_of

_APART = 3
"""Of 255: less is how a browser rounds colours when it draws layers in another order."""
_Thing = TypeVar("_Thing")
_AROUND = 9
"""Of the scaled image: what is nearer is one place."""
_MOST_PLACES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """A part of the page, and the tag of the least element that holds most of it, if any."""

    rect: Rect
    tag: str | None


class DrawnElement(NamedTuple):
    """An element, where it is, and all that is known of how it is drawn."""

    tag: str
    rect: Rect
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyDifference:
    """Of two sides; nothing where both have a look that is the same."""

    pixels: int
    """CSS pixels of the image, outside of what differs by itself."""
    share: float
    """Of the image."""
    gone: tuple[str, ...]
    """Words that each look at the reference has more often than any at the other, in order."""
    new: tuple[str, ...]
    restless: float
    """The share of the reference's image that differs between looks at one side."""
    places: tuple[PagePlace, ...]
    """Where the pixels are, the largest first."""
    below: tuple[DrawnElement, ...] = ()
    """Elements below the image that are gone or new in each look, or drawn otherwise."""

    @property
    def is_nothing(self) -> bool:
        return not (self.pixels or self.gone or self.new or self.below)


def compare_steadily(
    references: Sequence[LoadedSnapshot],
    others: Sequence[LoadedSnapshot],
    *,
    masked: Sequence[Rect] = (),
) -> SteadyDifference | None:
    """Compare all looks at the reference with all at the other; None if one has no image.

    Images are compared with overlays, and without alignment: an element that has moved differs.
    """
    images = [[look.pixels for look in looks] for looks in (references, others)]
    if any(pixels is None for side in images for pixels in side):
        return None
    mine, theirs = ([pixels for pixels in side if pixels is not None] for side in images)
    shape = _largest([*mine, *theirs])
    mine, theirs = ([_filled(pixels, shape) for pixels in side] for side in (mine, theirs))
    own = [_apart(*two) > _APART for side in (mine, theirs) for two in combinations(side, 2)]
    restless: Mask = reduce(np.logical_or, own, np.zeros(shape, dtype=np.bool_))
    if restless.any():
        restless = _widened(restless) > 0
    apart = reduce(np.minimum, (_apart(*two) for two in product(mine, theirs)))
    steady = (apart > _APART) & ~restless & ~mask_of(shape, masked)
    gone, new = _apart_each_time(
        *(
            [Counter(words_of(look.snapshot.text)) for look in looks]
            for looks in (references, others)
        )
    )
    boxes = [*others[0].snapshot.boxes, *references[0].snapshot.boxes]
    return SteadyDifference(
        pixels=int(np.count_nonzero(steady)) * SCALE**2,
        share=float(steady.mean()),
        gone=gone,
        new=new,
        restless=float(restless.mean()),
        places=tuple(PagePlace(rect=rect, tag=_tag_of(rect, boxes)) for rect in _places(steady)),
        below=_below(references, others, SCALE * shape[0], masked),
    )


def _largest(images: Sequence[Pixels]) -> tuple[int, int]:
    return max(image.shape[0] for image in images), max(image.shape[1] for image in images)


def _filled(image: Pixels, shape: tuple[int, int]) -> NDArray[np.int16]:
    """So many rows and columns; those that an image has not are of a colour that none has."""
    filled: NDArray[np.int16] = np.full((*shape, 3), -255, dtype=np.int16)
    filled[: image.shape[0], : image.shape[1]] = image
    return filled


def _apart(one: NDArray[np.int16], other: NDArray[np.int16]) -> NDArray[np.uint8]:
    """By pixel, the largest difference of a colour."""
    apart = np.abs(one - other).max(axis=2)
    return np.asarray(np.minimum(apart, 255), dtype=np.uint8)


def _apart_each_time(
    mine: Sequence[Counter[_Thing]], theirs: Sequence[Counter[_Thing]]
) -> tuple[tuple[_Thing, ...], tuple[_Thing, ...]]:
    """What is gone from, and new in, each look at the other."""
    least, most = reduce(Counter.__and__, mine), reduce(Counter.__or__, mine)
    their_least, their_most = reduce(Counter.__and__, theirs), reduce(Counter.__or__, theirs)
    return tuple((least - their_most).elements()), tuple((their_least - most).elements())


def _below(
    references: Sequence[LoadedSnapshot],
    others: Sequence[LoadedSnapshot],
    bottom: int,
    masked: Sequence[Rect],
) -> tuple[DrawnElement, ...]:
    """Elements below the image; none where the image has the whole page."""
    looks = [look.snapshot for look in (*references, *others)]
    if all((look.page_height or 0) <= bottom + SCALE for look in looks):
        return ()
    gone, new = _apart_each_time(
        *(
            [_elements_below(look.snapshot, bottom, masked) for look in side]
            for side in (references, others)
        )
    )
    return (*new, *gone)


def _elements_below(snapshot: Snapshot, top: int, masked: Sequence[Rect]) -> Counter[DrawnElement]:
    """Elements that reach below `top`, which are the same where one browser draws the same."""
    return Counter(
        DrawnElement(
            one.box.tag, one.box.rect, (one.box.kind, one.box.text, one.shows, *one.aspects)
        )
        for one in drawn_elements(snapshot)
        if one.is_seen
        and one.box.rect.y + one.box.rect.height > top
        and not is_masked(one.box.rect, masked)
    )


def _places(steady: Mask) -> Iterator[Rect]:
    """Pieces that are near one another are one place."""
    if not steady.any():
        return
    count, labels = cv2.connectedComponents(_widened(steady), connectivity=8)
    sizes = np.bincount(labels[steady], minlength=count)
    for label in np.argsort(-sizes[1:])[:_MOST_PLACES] + 1:
        rows, columns = np.nonzero((labels == label) & steady)
        top, left = int(rows.min()), int(columns.min())
        yield Rect(
            x=left * SCALE,
            y=top * SCALE,
            width=(int(columns.max()) + 1 - left) * SCALE,
            height=(int(rows.max()) + 1 - top) * SCALE,
        )


def _widened(mask: Mask) -> NDArray[np.uint8]:
    around: NDArray[np.uint8] = np.ones((_AROUND, _AROUND), dtype=np.uint8)
    return np.asarray(cv2.dilate(mask.astype(np.uint8), around), dtype=np.uint8)


def _tag_of(rect: Rect, boxes: Sequence[Box]) -> str | None:
    """The least of those that hold at least half of it."""
    holding = (box for box in boxes if 2 * rect.shared(box.rect) >= rect.area)
    least = min(holding, key=lambda box: box.rect.area, default=None)
    return least.tag if least is not None else None

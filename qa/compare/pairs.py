"""Compares a pair of snapshots: features, as numbers in a fixed order, and reasons in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pinakes.qa.snapshot import Rect, Snapshot

from .element_difference import ElementDifference
from .elements import compare_elements
from .images import ImageDifference, compare_images
from .page import PageDifference, compare_pages, lost_payloads, other_payloads
from .pictures import PictureDifference, compare_pictures
from .pixels import SCALE, Mask, Pixels, mask_of, moving_parts
from .texts import TextDifference, compare_texts

_NOTHING = 2.0
"""Standard deviation of the colours of an empty image, at most."""

_HALF = 0.5
_MUCH = 0.2
_MISREAD = 0.05
_MOST_ELEMENTS = 5
_LINES_OF = {
    "image": ImageDifference,
    "text": TextDifference,
    "page": PageDifference,
    "picture": PictureDifference,
    "element": ElementDifference,
}
_OTHERWISE = {"picture": 0.0}
"""The value of features that could not be compared; 1 for those of images."""

Changes: TypeAlias = tuple[tuple[int, int, int, int], ...]
"""x, y, width, height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSnapshot:
    """A snapshot with the pixels of its image; None without an image."""

    snapshot: Snapshot
    pixels: Pixels | None = None
    payloads: Mapping[str, str] | None = None
    """Payload digests of the page's answers, by URL; None if unknown."""
    uncovered: Pixels | None = None
    """The pixels of `image_without_overlay`, if an overlay covered the page."""

    @property
    def shown(self) -> Pixels | None:
        """The pixels to compare: without the overlay, unless nothing else is on the page, since
        some pages consist of fixed elements."""
        if self.uncovered is None or self.uncovered.std() < _NOTHING:
            return self.pixels
        return self.uncovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the second of a pair differs from the first, its reference."""

    image: ImageDifference | None
    """None if one of them has no image."""
    text: TextDifference
    page: PageDifference
    element: ElementDifference
    picture: PictureDifference | None
    """None if `image` is None."""
    payloads: tuple[str, ...] | None
    """URLs that were answered with other bytes; None if unknown."""
    lost: tuple[str, ...] | None
    """URLs that were answered for the first and not for the second; None if unknown."""
    masked: float
    """The share of the reference that is not compared."""
    uncovered: bool = False
    """Whether an overlay was removed from one or both before."""

    @property
    def changes(self) -> Changes:
        """Where the images differ most, in pixels of the image as it was taken."""
        found = self.image.changes if self.image is not None else ()
        return tuple((SCALE * x, SCALE * y, SCALE * w, SCALE * h) for x, y, w, h in found)


def compare_pair(
    reference: LoadedSnapshot,
    other: LoadedSnapshot,
    *,
    again: LoadedSnapshot | None = None,
    masked: Sequence[Rect] = (),
) -> Comparison:
    """Compare two snapshots.

    `again` is a second capture of the reference: where the two differ nothing is compared.
    `masked` are regions of the reference that are not compared.
    """
    image, picture, mask = None, None, None
    one, two = reference.shown, other.shown
    if one is not None and two is not None:
        mask = _mask(one, again, masked)
        image = compare_images(one, two, masked=mask)
        picture = compare_pictures(reference.snapshot, other.snapshot, (one, two), masked=mask)
    payloads, lost = None, None
    if reference.payloads is not None and other.payloads is not None:
        payloads = other_payloads(reference.payloads, other.payloads)
        lost = lost_payloads(reference.payloads, other.payloads)
    return Comparison(
        image=image,
        text=compare_texts(reference.snapshot.text, other.snapshot.text),
        page=compare_pages(reference.snapshot, other.snapshot),
        element=compare_elements(
            reference.snapshot,
            other.snapshot,
            again=again.snapshot if again is not None else None,
            masked=masked,
        ),
        picture=picture,
        payloads=payloads,
        lost=lost,
        masked=float(mask.mean()) if mask is not None else 0.0,
        uncovered=one is not reference.pixels or two is not other.pixels,
    )


def _mask(pixels: Pixels, again: LoadedSnapshot | None, regions: Sequence[Rect]) -> Mask:
    mask = mask_of(pixels.shape, regions)
    if again is not None and again.shown is not None:
        mask |= moving_parts(pixels, again.shown)
    return mask


def feature_names() -> tuple[str, ...]:
    """The names of `features`, in their order."""
    return (
        *(
            f"{part}_{name}"
            for part, cls in _LINES_OF.items()
            for name, kind in cls.__annotations__.items()
            if kind in ("int", "float")
        ),
        "image_there",
        "payloads_other",
        "payloads_lost",
    )


def features(comparison: Comparison) -> dict[str, float]:
    """A pair as numbers by name; a missing image differs completely from any other."""
    found = {
        "image_there": float(comparison.image is not None),
        "payloads_other": float(len(comparison.payloads or ())),
        "payloads_lost": float(len(comparison.lost or ())),
    }
    for name in feature_names():
        if name not in found:
            part, _, field = name.partition("_")
            otherwise = _OTHERWISE.get(part, 1.0)
            found[name] = float(getattr(getattr(comparison, part), field, otherwise))
    return {name: found[name] for name in feature_names()}


def reasons(comparison: Comparison, *, is_drawn_alike: bool = True) -> tuple[str, ...]:
    """The differences in words, the worst first; none if there is none that people see.

    Unless it is drawn alike, by one browser, how much of the page looks different says nothing:
    letters do, and what is below them is elsewhere.
    """
    found: list[str] = []
    if comparison.payloads:
        found.append(other_bytes(comparison.payloads))
    found += [*_of_page(comparison.page), *_of_text(comparison.text)]
    found += [change.what for change in comparison.element.changes[:_MOST_ELEMENTS]]
    if comparison.picture is not None:
        found += _of_pictures(comparison.picture)
    if comparison.uncovered:
        found.append("compared without the overlay")
    if comparison.image is None:
        found.append("one of the two has no image")
    else:
        found += _of_image(comparison.image, is_drawn_alike=is_drawn_alike)
    return tuple(found)


def other_bytes(urls: Sequence[str]) -> str:
    """In words: these URLs were answered with other bytes."""
    return f"resources with other bytes: {len(urls):,}: {', '.join(urls[:3])}"


def _of_page(page: PageDifference) -> Iterator[str]:
    if page.broken > 0 or page.zero_size > 0:
        yield f"broken images: {max(page.broken, page.zero_size):,} more{_named(page.broken_urls)}"
    if page.images < 0:
        yield f"images: {-page.images:,} fewer"
    if page.style_rules_ratio != 1.0:
        yield "style rules: {:,} → {:,}".format(*page.style_rules)
    if page.failed > 0:
        yield f"failed resources: {page.failed:,} more{_named(page.failed_urls)}"
    if page.media_failed > 0:
        yield f"failed videos or sounds: {page.media_failed:,} more"
    if page.overlay > 0:
        yield "an overlay covers the page"
    if page.height_ratio < 1 - _MUCH:
        yield "page height: {:,} → {:,} px".format(*page.heights)


def _named(urls: Sequence[str]) -> str:
    return f": {', '.join(urls[:3])}" if urls else ""


def _of_pictures(picture: PictureDifference) -> Iterator[str]:
    if picture.changed:
        yield f"pictures that look different: {picture.changed:,}"
    if picture.raster:
        yield f"a picture is another in {picture.raster:.0%} of its area"
    if picture.flattened:
        yield f"pictures now of a single colour: {picture.flattened:,}"


def _of_text(text: TextDifference) -> Iterator[str]:
    if text.gone > _MUCH:
        yield f"{text.gone:.0%} of the words are gone"
    if text.new > _MUCH:
        yield f"{text.new:.0%} of the words are new"
    if text.misread > _MISREAD:
        yield f"{text.misread:.0%} of the non-ASCII letters are in a wrong encoding"


def _of_image(image: ImageDifference, *, is_drawn_alike: bool) -> Iterator[str]:
    if image.emptied_tiles > _MUCH:
        yield f"{image.emptied_tiles:.0%} of the page is blank and was not"
    if not is_drawn_alike:
        return
    if image.changed_tiles > _MUCH:
        yield f"{image.changed_tiles:.0%} of the page looks different"
    if image.gone > _MUCH:
        yield f"{image.gone:.0%} of the page is gone"
    if image.new > _MUCH:
        yield f"{image.new:.0%} of the page is new"
    if image.colour > _HALF:
        yield "other colours"

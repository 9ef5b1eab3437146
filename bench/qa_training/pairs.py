"""Looks made into pairs: which are compared, and which of them show a fault.

A fault counts only where it is seen: the page with it, in the first browser, is another than the
page without it.  A missing script that changes not a pixel and no word is no fault; what else
changes fewer than `SEEN` pixels is in no pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from bench.qa_training.kept_snapshots import read_snapshot
from bench.qa_training.looks import Taken
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.compare.arrays_extra import cv2
from pinakes.qa.compare.pairs import (
    Comparison,
    LoadedSnapshot,
    compare_pair,
    features,
)
from pinakes.qa.compare.pixels import SCALE, Pixels, read_pixels
from pinakes.qa.snapshot import Image
from pinakes.qa.training.labelled import LabelledPair, PairOf

SEEN = 150
"""CSS pixels."""

_OTHERWISE = 16
Label: TypeAlias = Literal["similar", "dissimilar"]
_MOVING = frozenset({"date", "ad", "carousel"})
_ONLY_MASKED = frozenset({"carousel", "ad"})
"""Without a second look at the reference, nobody could tell it from a wrong image."""


class Compared(NamedTuple):
    """Two looks to be compared; `again` is of the first."""

    first: Taken
    second: Taken
    again: Taken | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePairs:
    """The looks at one page, by browser and variant."""

    looks: Mapping[tuple[str, str], Taken]
    browsers: Sequence[str]

    def all(self) -> Iterator[tuple[PairOf, Compared]]:
        """Every pair of the page."""
        first = self.browsers[0]
        for name in self.browsers:
            yield from (("same-browser", one) for one in self._between(name, name))
        for other in self.browsers[1:]:
            yield from (("across-browsers", one) for one in self._between(first, other))
            yield from (("across-browsers", one) for one in self._between(other, first))

    def _between(self, one: str, other: str) -> Iterator[Compared]:
        reference = self.looks.get((one, "reference"))
        if reference is None:
            return
        again = self.looks.get((one, "again"))
        moving = reference.dressing in _MOVING
        mask = again if moving else None
        for (browser, variant), look in self.looks.items():
            if browser != other or (browser == one and variant == "reference"):
                continue
            unmasked = reference.dressing not in _ONLY_MASKED
            if variant in ("reference", "again"):
                if moving and variant == "again" and not unmasked:
                    continue
                kind = f"benign:{reference.dressing}" if moving and variant == "again" else ""
                yield Compared(reference, look, None, kind or "unaltered")
            elif look.base == "reference":
                yield Compared(reference, look, None, variant)
            else:
                if mask is not None:
                    yield Compared(reference, look, mask, variant)
                if unmasked and not variant.startswith("fault:"):
                    yield Compared(reference, look, None, variant)
                base = self.looks.get((one, look.base))
                if base is not None and variant.startswith("fault:"):
                    yield Compared(base, look, None, variant)

    def change(self, look: Taken) -> tuple[Taken, Taken] | None:
        """The two looks of the first browser that tell whether a fault is seen."""
        first = self.browsers[0]
        base = self.looks.get((first, look.base))
        harmed = self.looks.get((first, look.variant))
        return (base, harmed) if base is not None and harmed is not None else None


def by_page(looks: Sequence[Taken], browsers: Sequence[str]) -> list[PagePairs]:
    """Looks, page by page, in the order in which they were taken."""
    pages: dict[str, dict[tuple[str, str], Taken]] = defaultdict(dict)
    for look in looks:
        pages[look.page][look.browser, look.variant] = look
    return [PagePairs(looks=found, browsers=browsers) for found in pages.values()]


class Seeing:
    """Reads looks; those of one page are kept, and the next page's take their place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._page = ""
        self._kept: dict[str, LoadedSnapshot] = {}

    def seen(self, look: Taken) -> LoadedSnapshot:
        """A look with its pixels, as `compare_pair` takes it."""
        if look.page != self._page:
            self._page, self._kept = look.page, {}
        if look.snapshot not in self._kept:
            snapshot = read_snapshot(self._folder / look.snapshot)
            read = partial(_pixels, self._folder / "images")
            self._kept[look.snapshot] = LoadedSnapshot(
                snapshot=snapshot,
                pixels=read(snapshot.image),
                uncovered=read(snapshot.image_without_overlay),
                payloads=look.payloads,
            )
        return self._kept[look.snapshot]

    def changed(self, look: tuple[Taken, Taken]) -> Change:
        """How much of an image is another; all where a page was not shown."""
        one, other = map(self.seen, look)
        if one.pixels is None or other.pixels is None:
            return Change(pixels=SEEN, share=1.0, is_in_text=True)
        apart, area = _changed(one.pixels, other.pixels)
        is_in_text = one.snapshot.text.split() != other.snapshot.text.split()
        return Change(pixels=SCALE**2 * apart, share=apart / area, is_in_text=is_in_text)


class Change(NamedTuple):
    """What a fault changes in the first browser."""

    pixels: int
    """CSS pixels, of the scaled image."""
    share: float
    is_in_text: bool

    @property
    def is_seen(self) -> bool:
        return self.pixels >= SEEN or self.is_in_text


def labelled_pairs(
    page: PagePairs, seeing: Seeing
) -> Iterator[tuple[LabelledPair, Compared, float]]:
    """The pairs of a page, compared and labelled; and the share of the image that is harmed."""
    compared: dict[tuple[str, str, bool], Comparison] = {}
    for pair_of, pair in page.all():
        found = _label(page, pair, seeing)
        if found is None:
            continue
        label, share = found
        again = seeing.seen(pair.again) if pair.again is not None else None
        key = (pair.first.snapshot, pair.second.snapshot, pair.again is not None)
        if key not in compared:
            sides = (seeing.seen(pair.first), seeing.seen(pair.second))
            compared[key] = compare_pair(*sides, again=again)
        kind = pair.kind + ("+masked" if pair.again is not None else "")
        numbers = features(compared[key])
        yield (
            LabelledPair(
                site=pair.first.site,
                features=numbers,
                label=label,
                pair=pair_of,
                kind=kind if label == "dissimilar" else kind.replace("fault:", "unseen:"),
            ),
            pair,
            share,
        )


def _label(page: PagePairs, pair: Compared, seeing: Seeing) -> tuple[Label, float] | None:
    """None where a fault is neither seen nor unseen, or one of the pages was not shown."""
    if not pair.kind.startswith("fault:"):
        return "similar", 0.0
    looks = page.change(pair.second)
    if looks is None:
        return None
    change = seeing.changed(looks)
    if change.is_seen:
        return "dissimilar", change.share
    # Of a picture or a style sheet it may be seen elsewhere on the page, or by others.
    is_nothing = change.pixels == 0 and "script" in pair.kind
    return ("similar", 0.0) if is_nothing else None


def _pixels(folder: Path, image: Image | None) -> Pixels | None:
    return read_pixels(read_image(folder, image)) if image is not None else None


def _changed(one: Pixels, other: Pixels) -> tuple[int, int]:
    """Pixels that are others, of so many."""
    rows, columns = min(one.shape[0], other.shape[0]), min(one.shape[1], other.shape[1])
    area = max(one.shape[0], other.shape[0]) * max(one.shape[1], other.shape[1])
    apart = cv2.absdiff(one[:rows, :columns], other[:rows, :columns]).max(axis=2)
    return int((apart > _OTHERWISE).sum()) + area - rows * columns, area

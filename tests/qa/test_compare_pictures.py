"""Pictures compared in their places: a wrong one, one that is gone, and what is no picture."""

from __future__ import annotations

from dataclasses import replace

import comparing  # noqa: F401
import numpy as np
import pytest
from snapshots import SHOWN

from pinakes.qa.compare.pairs import LoadedSnapshot, compare_pair, reasons
from pinakes.qa.compare.pictures import PictureDifference, compare_pictures
from pinakes.qa.compare.pixels import SCALE, Pixels, mask_of
from pinakes.qa.snapshot import Box, Overlay, Rect

WIDTH, HEIGHT = 800, 1200
PLACES = tuple(Rect(x=40 + 240 * n, y=100, width=200, height=150) for n in range(3))
SNAPSHOT = replace(
    SHOWN,
    viewport_width=WIDTH,
    boxes=tuple(Box(tag="img", kind="image", rect=rect) for rect in PLACES),
)


def drawn(*seeds: int | None, rects: tuple[Rect, ...] = PLACES) -> Pixels:
    """A white page, with noise of a seed in each place; None leaves it white."""
    page = np.full((HEIGHT // SCALE, WIDTH // SCALE, 3), 255, np.uint8)
    for seed, rect in zip(seeds, rects, strict=True):
        if seed is not None:
            rows = slice(rect.y // SCALE, (rect.y + rect.height) // SCALE)
            columns = slice(rect.x // SCALE, (rect.x + rect.width) // SCALE)
            shape = page[rows, columns].shape
            coarse = np.random.default_rng(seed).integers(0, 255, (5, 5, 3), np.uint8)
            noise = np.kron(coarse, np.ones((40, 40, 1), np.uint8))
            page[rows, columns] = noise[: shape[0], : shape[1]]
    return page


def between(one: Pixels, other: Pixels, **others: object) -> PictureDifference:
    return compare_pictures(SNAPSHOT, replace(SNAPSHOT, **others), (one, other))  # type: ignore[arg-type]


def test_a_wrong_picture_is_seen_and_the_right_ones_are_not() -> None:
    found = between(drawn(1, 2, 3), drawn(1, 9, 3))
    assert (found.changed, found.flattened, found.gone, found.new) == (1, 0, 0, 0)
    assert found.changed_share == pytest.approx(1 / 3)
    assert between(drawn(1, 2, 3), drawn(1, 2, 3)).worst == 0


@pytest.mark.parametrize(
    ("mine", "theirs", "changed"),
    [
        ("2x1:ffffff000000", "2x1:fffffe000001", 2),
        ("2x1:ffffff000000", "2x1:ffffff300000", 3),
        ("~2x1:ffffff000000", "~2x1:ffffff000000", 3),
        ("2x1:ffffff000000", "", 3),
        ("2x1:ffffff000000;2x1:ffffff000000", "2x1:ffffff000000;", 3),
    ],
    ids=["the same", "another", "with letters", "unknown", "one of two unknown"],
)
def test_what_two_browsers_decode_alike_is_no_other_picture(
    mine: str, theirs: str, changed: int
) -> None:
    one, other = (
        replace(
            SNAPSHOT,
            boxes=(replace(SNAPSHOT.boxes[0], decoded=0), *SNAPSHOT.boxes[1:]),
            decoded=(shown,),
        )
        for shown in (mine, theirs)
    )
    found = compare_pictures(one, other, (drawn(1, 2, 3), drawn(7, 8, 9)))
    assert found.changed == changed


def test_a_picture_that_is_one_colour_now_is_flat() -> None:
    found = between(drawn(1, 2, 3), drawn(1, None, 3))
    assert (found.changed, found.flattened) == (1, 1)
    assert between(drawn(1, None, 3), drawn(1, 2, 3)).flattened == 0


def test_a_faint_picture_that_is_a_little_fainter_is_not_flat() -> None:
    """A spread of 0.0216 and of 0.0196, on both sides of what counts as a single colour."""
    sides = []
    for faint in (11, 10):
        page = drawn(1, None, 3)
        page[50:125, 140:240] = 128
        page[50:125, 190:240] += faint
        sides.append(page)
    assert between(*sides).flattened == 0
    assert between(sides[0], drawn(1, None, 3)).flattened == 1


def test_of_a_picture_of_pixels_the_part_that_differs_is_told() -> None:
    sized = tuple(replace(box, text="400x300") for box in SNAPSHOT.boxes)
    cut = drawn(1, 2, 3)
    cut[80:125, 140:240] = 255  # its last 60%, of 75 rows from 50 on
    pages = replace(SNAPSHOT, boxes=sized)
    found = compare_pictures(pages, pages, (drawn(1, 2, 3), cut))
    assert found.raster == pytest.approx(0.6, abs=0.05)
    assert compare_pictures(pages, SNAPSHOT, (drawn(1, 2, 3), cut)).raster == 0


@pytest.mark.parametrize(("by", "differs"), [(1, False), (6, True)])
def test_a_picture_that_a_browser_rounds_to_the_next_pixel_is_the_same(
    by: int, differs: bool
) -> None:
    sized = replace(SNAPSHOT, boxes=tuple(replace(box, text="9x9") for box in SNAPSHOT.boxes))
    moved = np.roll(drawn(1, 2, 3), by, axis=1)
    assert (compare_pictures(sized, sized, (drawn(1, 2, 3), moved)).raster > 0) == differs


def test_pictures_are_matched_by_size_and_order_wherever_they_went() -> None:
    lower = tuple(replace(rect, y=rect.y + 300) for rect in PLACES)
    boxes = tuple(Box(tag="img", kind="image", rect=rect) for rect in lower)
    found = between(drawn(1, 2, 3), drawn(1, 2, 3, rects=lower), boxes=boxes)
    assert (found.changed, found.gone, found.new) == (0, 0, 0)


def test_a_picture_that_is_gone_has_its_share() -> None:
    found = between(drawn(1, 2, 3), drawn(1, 2, None), boxes=SNAPSHOT.boxes[:2])
    assert (found.gone, found.new, found.changed) == (1, 0, 0)
    assert found.gone_share == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "box",
    [
        Box(tag="img", kind="image", rect=Rect(x=40, y=100, width=16, height=16)),
        Box(tag="img", kind="image", rect=Rect(x=40, y=HEIGHT - 20, width=200, height=150)),
        Box(tag="iframe", kind="image", rect=PLACES[0]),
        Box(tag="p", kind="text", rect=PLACES[0]),
    ],
    ids=["an icon", "below the image", "a frame", "text"],
)
def test_what_is_no_picture_to_be_compared_is_not(box: Box) -> None:
    only = replace(SNAPSHOT, boxes=(box,))
    found = compare_pictures(only, only, (drawn(1, 2, 3), drawn(4, 5, 6)))
    assert (found.changed, found.gone, found.new, found.worst) == (0, 0, 0, 0)


def test_pictures_in_frames_are_the_frames_owners_business() -> None:
    frame = Box(tag="iframe", kind="image", rect=PLACES[1])
    framed = replace(SNAPSHOT, boxes=(*SNAPSHOT.boxes, frame))
    assert compare_pictures(framed, framed, (drawn(1, 2, 3), drawn(1, 9, 3))).changed == 0


def test_masked_pictures_are_not_compared() -> None:
    one, other = drawn(1, 2, 3), drawn(1, 9, 3)
    mask = mask_of(one.shape, [PLACES[1]])
    assert compare_pictures(SNAPSHOT, SNAPSHOT, (one, other), masked=mask).changed == 0


def test_what_lies_over_a_page_is_taken_away_before_it_is_compared_and_that_is_said() -> None:
    over = Overlay(tag="div", identity="", rect=PLACES[0], viewport_share=1.0, text="")
    dark = np.zeros_like(drawn(1, 2, 3))
    covered = LoadedSnapshot(
        snapshot=replace(SNAPSHOT, overlay=over), pixels=dark, uncovered=drawn(1, 2, 3)
    )
    found = compare_pair(LoadedSnapshot(snapshot=SNAPSHOT, pixels=drawn(1, 2, 3)), covered)
    assert found.uncovered
    assert found.image is not None
    assert found.image.changed_tiles == 0
    said = reasons(found)
    assert "an overlay covers the page" in said
    assert "compared without the overlay" in said

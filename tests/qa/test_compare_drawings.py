"""What pictures show and how shapes are painted, in two browsers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from snapshots import SHOWN

from pinakes.qa.compare.drawings import other_shapes, show_alike
from pinakes.qa.compare.drawn_elements import ASPECTS
from pinakes.qa.compare.elements import COUNTING, compare_elements
from pinakes.qa.snapshot import Box, Rect, Snapshot, SvgShape

LOOKS = tuple(
    "|".join(paint if name == "paint" else "" for name in ASPECTS)
    for paint in ("red", "blue line 1 red")
)
RECT = Rect(x=10, y=20, width=40, height=30)
BLOCKS = (
    Box(tag="p", kind="text", rect=replace(RECT, y=90), text="Total 30.00 at 9:05:01", look=0),
    Box(tag="img", kind="image", rect=RECT, text="16x16", look=0, decoded=0),
)
SHAPES = tuple(
    SvgShape(tag="rect", drawing=0, rect=RECT, place=(left, 5, 40, 30), look=0) for left in (1, 60)
)
WHITE, BLACK, GREY, PALE = "ffffff", "000000", "777777", "cccccc"
BARS, NOTCH = (first + (WHITE * 2 + BLACK * 2) * 3 for first in (
    WHITE * 2 + BLACK * 2, WHITE + BLACK * 3
))  # fmt: skip
CELLS = "2x1:ffffff000000", "2x1:ffffff004000"
PAGE = replace(
    SHOWN,
    browser="chromium", looks=LOOKS, boxes=BLOCKS, shapes=SHAPES, shapes_total=2, decoded=CELLS,
)  # fmt: skip
SAME = replace(PAGE, browser="firefox")


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        ("2x1:ffffff000000", "2x1:ffffff000000", True),
        ("2x1:ffffff000000", "2x1:fffffd000002", True),
        ("2x1:ffffff000000", "2x1:ffffff030000", False),
        # With a gamma, which each browser converts.
        ("2x1:ffffff000000|ffffff101010", "2x1:ffffff000000|ffffff151515", True),
        ("2x1:ffffff000000|ffffff101010", "2x1:ffffff030000|ffffff101010", False),
        ("2x1:ffffff000000|ffffff0c0c0c", "2x1:ffffff000000", False),
        ("2x1:ffffff000000|ffffff0b0b0b", "2x1:ffffff000000", True),
        ("2x1:ffffff000000|ffffff", "2x1:ffffff030000", True),
        # Drawn by the browser, without letters.
        ("=2x1:ffffff000000", "=2x1:ffffe8000000", True),
        ("=2x1:ffffff000000", "=2x1:ffffff180000", False),
        (f"=9x1:{WHITE * 9}", f"=9x1:{'f5' * 12}{'ff' * 15}", True),
        (f"=9x1:{WHITE * 9}", f"=9x1:{'f5' * 13}{'ff' * 14}", False),
        (f"=9x1:{WHITE * 9}", f"=9x1:{'f6' * 27}", True),
        # Where there are letters: between the colours around it.
        (f"~4x1:{WHITE}{BLACK}{WHITE}{WHITE}", f"~4x1:{WHITE}{WHITE}{BLACK}{WHITE}", True),
        (f"~4x1:{WHITE}{BLACK}{WHITE}{WHITE}", f"~4x1:{WHITE}{GREY}8888ff{WHITE}", False),
        (f"~3x1:{WHITE}{WHITE}{PALE}", f"~3x1:{WHITE}{GREY}{PALE}", False),
        (f"~2x1:{WHITE}{WHITE}", "~2x1:ffddffffddff", True),
        (f"=4x1:{WHITE}{BLACK}{WHITE}{WHITE}:0110", f"=4x1:{WHITE}{WHITE}{BLACK}{WHITE}", True),
        (f"=4x1:{WHITE}{BLACK}{WHITE}{WHITE}:0100", f"=4x1:{WHITE}{WHITE}{BLACK}{WHITE}", False),
        (f"=4x1:{WHITE}{BLACK}{WHITE}{WHITE}", f"~4x1:{WHITE}{WHITE}{BLACK}{WHITE}", True),
        # Laid out by letters, perhaps: all of it is elsewhere, or a part is another.
        (f"~17x1:{BARS}{WHITE}:{'0' * 17}", f"~17x1:{WHITE}{BARS[:-6]}{WHITE}:{'0' * 17}", True),
        (f"~17x1:{BARS}{WHITE}:{'0' * 17}", f"~17x1:{NOTCH}{WHITE}:{'0' * 17}", False),
        (f"~17x1:{BARS}{WHITE}:01{'0' * 15}", f"~17x1:{NOTCH}{WHITE}:{'0' * 17}", True),
        (f"~17x1:{BARS}{WHITE}", f"~17x1:{NOTCH}{WHITE}:{'0' * 17}", True),
        # Several in one place.
        ("2x1:ffffff000000;broken", "2x1:ffffff000000;broken", True),
        ("2x1:ffffff000000;2x1:ffffff000000", "2x1:ffffff000000;2x1:ffffff300000", False),
        ("2x1:ffffff000000;", "2x1:ffffff000000;2x1:ffffff300000", True),
        ("2x1:ffffff000000", "2x1:000000000000;2x1:ffffff300000", True),
        # Another size, or no cells: other features tell, or nobody knows.
        ("2x1:ffffff000000", "1x2:000000ffffff", True),
        ("2x1:ffffff000000", "~2x1:000000ffffff", True),
        ("2x1:ffffff000000", "", True),
        ("2x1:ffffff000000", "broken", False),
        ("broken", "", True),
        ("2x1:ffffff000000", "2x1:fff00", True),
        ("2x1:ffffff000000", "2x1:ffff", True),
        ("2x9:ffffff000000", "2x9:000000000000", True),
    ],
)
def test_cells_are_alike_but_for_how_browsers_round(one: str, other: str, is_alike: bool) -> None:
    assert show_alike(one, other) is show_alike(other, one) is is_alike


def shape(number: int, **fields: object) -> Snapshot:
    """The page in the other browser, with one shape that is otherwise."""
    shapes = list(SHAPES)
    shapes[number] = replace(shapes[number], **fields)  # type: ignore[arg-type]
    return replace(SAME, shapes=tuple(shapes))


def texts(total: str) -> Snapshot:
    """The page in the other browser, with another total."""
    boxes = (replace(BLOCKS[0], text=f"Total {total} at 9:05:07"), BLOCKS[1])
    return replace(SAME, boxes=boxes)


def picture(decoded: int) -> Snapshot:
    return replace(SAME, boxes=(BLOCKS[0], replace(BLOCKS[1], decoded=decoded)))


WAS = "and was at 60 5 40 30"
MORE = replace(SAME, shapes=(*SHAPES, replace(SHAPES[0], drawing=1)), shapes_total=3)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (SAME, ""),
        (shape(0, look=1), "<rect> of a drawing is painted blue line 1 red, and was red"),
        (shape(1, look=7), "<rect> of a drawing is painted not at all, and was red"),
        (shape(1, place=(60, 5, 40, 38)), f"<rect> of a drawing is at 60 5 40 38, {WAS}"),
        (shape(1, place=(66, 1, 43, 28), by_letters=True), ""),
        (
            shape(1, place=(67, 5, 40, 30), by_letters=True),
            f"<rect> of a drawing is at 67 5 40 30, {WAS}",
        ),
        (shape(1, place=(61, 6, 39, 31)), ""),
        (shape(1, place=(62, 5, 40, 30)), f"<rect> of a drawing is at 62 5 40 30, {WAS}"),
        (shape(1, place=(60,)), f"<rect> of a drawing is at 60, {WAS}"),
        (shape(1, moves=True, look=1), ""),
        (replace(MORE, shapes=(*SHAPES, replace(SHAPES[0], moves=True))), ""),
        (replace(SAME, shapes=SHAPES[:1], shapes_total=1), "<rect> of a drawing is gone"),
        (replace(SAME, shapes=SHAPES[:1]), ""),
        (replace(SAME, shapes=(*SHAPES, SHAPES[0]), shapes_total=3), "<rect> of a drawing is new"),
        (MORE, "<rect> of a drawing is new"),
        (texts("36.00"), "<p> “Total 36.00 at 9:05:07” was “Total 30.00 at 9:05:01”"),
        (texts("30.00"), ""),
        (texts(f"{COUNTING}.{COUNTING}"), ""),
        (picture(1), "<img> “16x16” shows something else"),
        (picture(9), ""),
    ],
)
def test_what_two_browsers_know_exactly_is_compared(other: Snapshot, said: str) -> None:
    found = compare_elements(PAGE, other)
    assert [change.what for change in found.changes] == [said] * bool(said)
    assert found.changed == bool(said)
    assert (found.lost, found.added, found.restyled) == (0, 0, 0)
    assert compare_elements(PAGE, other, again=replace(other, browser="chromium")).changed == 0
    # In one browser pictures are decoded below the image alone.
    is_picture = "shows" in said
    assert compare_elements(PAGE, replace(other, browser="chromium")).changed == is_picture


def test_a_masked_shape_is_not_compared() -> None:
    found = compare_elements(PAGE, shape(0, look=1), masked=[replace(RECT, width=90)])
    assert found.changed == 0


def test_shapes_without_a_second_look_are_each_compared() -> None:
    both = replace(SAME, shapes=tuple(replace(one, look=1) for one in SHAPES))
    assert len(list(other_shapes(PAGE, both))) == 2

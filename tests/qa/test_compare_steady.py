"""What differs each time, and what differs by itself."""

from __future__ import annotations

from dataclasses import replace

import comparing  # noqa: F401
import numpy as np
import pytest
from drawn_pages import page, seen
from snapshots import SHOWN

from pinakes.qa.compare.drawn_elements import ASPECTS
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import Pixels
from pinakes.qa.compare.steady import SteadyDifference, compare_steadily
from pinakes.qa.snapshot import Box, Rect

SIDE = Rect(x=0, y=0, width=1280, height=2400)
ICON = Rect(x=600, y=400, width=8, height=8)


def look(image: Pixels, text: str = "what it says") -> LoadedSnapshot:
    boxes = (Box(tag="main", kind="block", rect=SIDE), Box(tag="img", kind="image", rect=ICON))
    return LoadedSnapshot(snapshot=replace(SHOWN, text=text, boxes=boxes), pixels=seen(image))


def painted(*rects: Rect, colour: int = 0) -> Pixels:
    image = page()
    for rect in rects:
        image[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = colour
    return image


def compared(*looks: list[LoadedSnapshot], masked: tuple[Rect, ...] = ()) -> SteadyDifference:
    found = compare_steadily(*looks, masked=masked)
    assert found is not None
    return found


def test_what_is_the_same_does_not_differ() -> None:
    found = compared([look(page())], [look(page())])
    assert found == SteadyDifference(pixels=0, share=0.0, gone=(), new=(), restless=0.0, places=())


def test_an_icon_is_found_and_its_place_named() -> None:
    found = compared([look(page())], [look(painted(ICON))])
    assert 0 < found.pixels <= 64
    assert [(place.rect, place.tag) for place in found.places] == [(ICON, "img")]


def test_a_faint_background_is_found() -> None:
    strip = Rect(x=0, y=1000, width=1280, height=400)
    faint = page()
    faint[strip.y : strip.y + strip.height] = np.maximum(faint[1000:1400], 6) - 6
    assert compared([look(page())], [look(faint)]).pixels > 0.9 * strip.width * strip.height


def test_places_that_are_near_are_one_and_the_largest_comes_first() -> None:
    near = [Rect(x=100 + 12 * n, y=100, width=8, height=8) for n in range(5)]
    far = Rect(x=900, y=1500, width=200, height=100)
    found = compared([look(painted(*near, far))], [look(painted(*near, far, colour=255))])
    assert [place.rect for place in found.places] == [
        far,
        Rect(x=100, y=100, width=56, height=8),
    ]


def test_what_differs_between_looks_of_one_side_does_not_count() -> None:
    popup = Rect(x=300, y=300, width=400, height=300)
    with_popup, without = look(painted(popup)), look(page())
    assert compared([with_popup], [without]).pixels > 0
    for mine, theirs in (
        ([with_popup, without], [without, without]),
        ([without, without], [with_popup, without]),
        ([with_popup, without], [without, with_popup]),
    ):
        found = compared(mine, theirs)
        assert (found.pixels, found.places) == (0, ())
        assert found.restless > 0.03


def test_beside_what_differs_by_itself_the_rest_is_compared() -> None:
    popup = Rect(x=300, y=300, width=100, height=60)
    mine = [look(page()), look(painted(popup))]
    theirs = [look(painted(ICON)), look(painted(ICON, popup))]
    assert [place.rect for place in compared(mine, theirs).places] == [ICON]


def test_a_page_that_is_longer_differs_below() -> None:
    found = compared([look(page(60))], [look(page(70))])
    assert found.places[0].rect == Rect(x=0, y=2400, width=1280, height=400)


LONG = replace(SHOWN, page_height=9000, looks=("|".join("" for _ in ASPECTS),))


def long(shows: str, *, y: int = 7000) -> LoadedSnapshot:
    """A page that is longer than its image, with a picture further down."""
    rect = Rect(x=8, y=y, width=300, height=200)
    boxes = (Box(tag="img", kind="image", rect=rect, text="30x20", look=0, decoded=0),)
    return LoadedSnapshot(
        snapshot=replace(LONG, boxes=boxes, decoded=(shows,)), pixels=seen(page())
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "count"),
    [
        ([long("a")], [long("a")], 0),
        ([long("a")], [long("b")], 2),
        ([long("a")], [long("a", y=7010)], 2),
        ([long("a")], [long("b", y=100)], 1),
        ([long("a"), long("b")], [long("b"), long("b")], 0),
        ([long("a"), long("b")], [long("c"), long("c")], 1),
    ],
    ids=["same", "other picture", "moved", "gone", "one of its own", "beside one of its own"],
)
def test_below_the_image_elements_are_compared(
    mine: list[LoadedSnapshot], theirs: list[LoadedSnapshot], count: int
) -> None:
    found = compared(mine, theirs)
    assert (found.pixels, len(found.below)) == (0, count)
    assert found.is_nothing == (count == 0)
    masked = (Rect(x=0, y=6900, width=1280, height=400),)
    assert compared(mine, theirs, masked=masked).below == ()


def test_masked_regions_do_not_count() -> None:
    assert compared([look(page())], [look(painted(ICON))], masked=(ICON,)).pixels == 0


@pytest.mark.parametrize(
    ("mine", "theirs", "gone", "new"),
    [
        (["One two two"], ["one two three"], ("two",), ("three",)),
        (["a b", "b a"], ["b a", "a b"], (), ()),
        (["it is 12:01", "it is 12:02"], ["it is 12:03", "it is 12:01"], (), ()),
        (["a x", "a y"], ["b x", "b x"], ("a",), ("b",)),
    ],
)
def test_words(
    mine: list[str], theirs: list[str], gone: tuple[str, ...], new: tuple[str, ...]
) -> None:
    found = compared([look(page(), t) for t in mine], [look(page(), t) for t in theirs])
    assert (found.gone, found.new) == (gone, new)


def test_without_an_image_nothing_is_compared() -> None:
    blind = LoadedSnapshot(snapshot=SHOWN)
    assert compare_steadily([blind], [look(page())]) is None

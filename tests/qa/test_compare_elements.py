"""Elements compared one by one: what of a page changed, whatever browser draws it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from snapshots import SHOWN

from pinakes.qa.compare.drawn_elements import ASPECTS
from pinakes.qa.compare.element_difference import ElementDifference
from pinakes.qa.compare.elements import compare_elements
from pinakes.qa.snapshot import Box, Rect, Snapshot

PLAIN = dict.fromkeys(ASPECTS, "") | {
    "colour": "rgb(0, 0, 0)", "size": "16px", "family": "serif", "display": "block",
    "transform": "none", "opacity": "1", "margin": "16,0,16,0", "padding": "0,0,0,0",
    "width": "all", "position": "static none", "line height": "19.2",
}  # fmt: skip


def look(**aspects: str) -> str:
    return "|".join((PLAIN | aspects)[name] for name in ASPECTS)


def box(number: int, text: str, *, x: int = 8, y: int = 0, of: int = 0, tag: str = "p") -> Box:
    rect = Rect(x=x, y=y or 40 * number, width=600, height=30)
    return Box(tag=tag, kind="image" if tag == "img" else "text", rect=rect, text=text, look=of)


BOXES = [box(number, f"Paragraph {number}") for number in range(6)]
PAGE = replace(SHOWN, boxes=tuple(BOXES), looks=(look(),))


def changed(number: int, *, style: str | None = None, **fields: object) -> Snapshot:
    """The page with one box changed, or drawn in another style."""
    boxes = list(BOXES)
    boxes[number] = replace(boxes[number], **fields, **({"look": 1} if style else {}))  # type: ignore[arg-type]
    return replace(PAGE, boxes=tuple(boxes), looks=(look(), style or look()))


def test_a_page_does_not_differ_from_itself() -> None:
    found = compare_elements(PAGE, PAGE)
    assert found == compare_elements(replace(PAGE, boxes=()), replace(PAGE, boxes=()))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (changed(2, text="Something else"), {"lost": 1, "added": 1, "lost_share": 1 / 6}),
        (changed(2, style=look(colour="rgb(200, 0, 0)")), {"restyled": 1}),
        (changed(2, style=look(background="rgb(9, 9, 9)")), {"restyled": 1}),
        (changed(2, style=look(border="1solidred,,,")), {"restyled": 1}),
        (changed(2, style=look(size="20px", family="monospace")), {"restyled": 1}),
        (changed(2, style=look(before='"x"')), {"restyled": 1}),
        (changed(2, style=look(margin="20,0,16,0")), {"restyled": 1}),
        (changed(2, style=look(margin="0,even,16,even")), {"restyled": 1}),
        (changed(2, style=look(padding="0,0,0,2")), {"restyled": 1}),
        (changed(2, style=look(width="part")), {}),
        (changed(2, style=look(width="part"), rect=Rect(x=8, y=80, width=360, height=30)),
         {"restyled": 1, "widened": 1}),
        (changed(2, style=look(position="absolute none")), {"restyled": 1}),
        (changed(2, rect=Rect(x=14, y=80, width=600, height=30)),
         {"shifted": 1, "shifted_most": 6.0}),
        (changed(2, rect=Rect(x=8, y=90, width=600, height=30)),
         {"spaced": 2, "spaced_most": 10.0}),
        (changed(2, rect=Rect(x=8, y=80, width=360, height=30)), {"widened": 1}),
        (replace(PAGE, boxes=(*BOXES[:2], *BOXES[3:])), {"lost": 1}),
    ],
    ids=["text", "colour", "background", "border", "letters", "generated",
         "margin", "centred", "padding", "as wide", "width", "position", "across", "down",
         "narrow", "gone"],
)  # fmt: skip
def test_what_changed_is_counted_as_what_it_is(other: Snapshot, expected: dict[str, float]) -> None:
    found = compare_elements(PAGE, other)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name
    assert found.changed == found.lost + found.added + found.restyled
    quiet = ("restyled", "shifted", "widened")
    assert all(not getattr(found, name) for name in quiet if name not in expected)


@pytest.mark.parametrize(
    ("mine", "theirs", "count"),
    [
        ({"margin": "16,even,16,even"}, {"margin": "15,even,16,even"}, 0),
        ({"padding": "77,0,0,0"}, {"padding": "80,0,0,0"}, 0),
        ({"margin": "16,40,16,0"}, {"margin": "16,38,16,0"}, 1),
        ({"margin": ",0,16,0"}, {"margin": "16,0,16,0"}, 1),
        # Automatic ones, of a box that is where it was, or by what letters leave.
        ({"margin": "16,even,16,even"}, {"margin": "16,0,16,90"}, 0),
        ({"margin": "16,0,16,137"}, {"margin": "16,0,16,128"}, 0),
        ({"margin": "16,even,16,even"}, {"margin": "20,0,20,90"}, 1),
        ({"margin": "16,0,16,0"}, {"margin": "16,0,16,9"}, 1),
        ({"line height": "19.1"}, {"line height": "19.2"}, 0),
        ({"line height": "normal"}, {"line height": "19.2"}, 1),
        ({"size": "16px"}, {"size": "17px"}, 1),
        ({"spacing": "0.9px none"}, {"spacing": "0.8px none"}, 0),
        ({"spacing": "0.9px none"}, {"spacing": "0.5px none"}, 1),
        ({"spacing": "normal none"}, {"spacing": "normal none rtl"}, 1),
        ({"spacing": "normal none"}, {"spacing": "0.1px none"}, 1),
        # Sines are rounded, and a part of the box's size is moved by.
        ({"transform": "matrix(0.5, 0.87, -0.87, 0.5, -20, 3)"},
         {"transform": "matrix(0.49, 0.87, -0.87, 0.49, -21, 3)"}, 0),
        ({"transform": "matrix(0, 1, -1, 0, 10, 5)"},
         {"transform": "matrix(0, 1, -1, 0, 19, 5)"}, 1),
        ({"transform": "matrix(1, 0, 0, 1, 0, 0)"}, {"transform": "matrix(0, 1, -1, 0, 0, 0)"}, 1),
        ({"transform": "none"}, {"transform": "matrix(0, 1, -1, 0, 0, 0)"}, 1),
        # What a page's own scripts have made of the description.
        ({"margin": "16,0"}, {"margin": "16,0,16,0"}, 1),
        ({"margin": "1.2.3,0,0,-"}, {"margin": "1,0,0,."}, 1),
    ],
)  # fmt: skip
def test_lengths_that_browsers_round_otherwise_are_the_same(
    mine: dict[str, str], theirs: dict[str, str], count: int
) -> None:
    one, other = (changed(2, style=look(**aspects)) for aspects in (mine, theirs))
    assert compare_elements(one, other).restyled == count


def test_what_is_not_seen_does_not_count() -> None:
    """Letters' colours without letters, and boxes of which nothing is drawn."""
    plain, red = look(background="transparent"), look(background="transparent", colour="red")
    blocks = tuple(replace(one, kind="block", text="") for one in BOXES)
    page = replace(PAGE, boxes=blocks, looks=(plain, red))
    other = replace(page, boxes=(replace(blocks[0], look=1), *blocks[1:4]))
    assert compare_elements(page, other).changed == 0
    lined = replace(page, looks=(look(border="1solidred,,,"), red))
    assert compare_elements(lined, replace(lined, boxes=blocks[:4])).lost == 2


@pytest.mark.parametrize(
    ("was", "now", "count"),
    [
        ((400, 83), (392, 83), 1),
        ((400, 83), (392, 81), 0),
        ((400, 83), (398, 83), 0),
        ((100, 83), (92, 76), 0),
    ],
    ids=["narrower", "smaller", "by two pixels", "much smaller"],
)
def test_pictures_are_stretched_by_no_letters(
    was: tuple[int, int], now: tuple[int, int], count: int
) -> None:
    one, other = (
        replace(
            PAGE,
            browser=browser,
            boxes=(replace(box(0, "9x9", tag="img"), rect=Rect(x=8, y=0, width=w, height=h)),),
        )
        for browser, (w, h) in (("chromium", was), ("firefox", now))
    )
    assert compare_elements(one, other).changed == count
    one, other = (
        replace(page, boxes=(replace(page.boxes[0], text="broken"),)) for page in (one, other)
    )
    assert compare_elements(one, other).changed == 0


def test_a_line_is_seen_and_a_dot_or_what_is_put_away_is_not() -> None:
    red, blue = look(background="rgb(255, 0, 0)"), look(background="rgb(0, 0, 255)")

    def block(x: int, width: int, height: int, number: int) -> Snapshot:
        rect = Rect(x=x, y=8, width=width, height=height)
        line = Box(tag="div", kind="block", rect=rect, look=number)
        return replace(PAGE, boxes=(line,), looks=(red, blue))

    for place, count in (
        ((8, 300, 1), 1), ((8, 1, 16), 1), ((8, 1, 1), 0), ((8, 15, 2), 0), ((-999, 300, 40), 0),
    ):  # fmt: skip
        assert compare_elements(block(*place, 0), block(*place, 1)).restyled == count
        assert compare_elements(block(*place, 0), replace(PAGE, boxes=())).lost == count


@pytest.mark.parametrize(
    ("was", "now", "count"),
    [
        ("at 9:05:01", "at 9:05:58", 0),
        ("00:04:17 long", "04:40:17 long", 1),
        ("at 23:59:59", "at 0:00:05", 0),
        ("1:00:00 of 2:00:00", "1:00:00 of 4:00:00", 1),
        ("1:00:00", "1:00:00 0:00:00", 0),
    ],
)
def test_times_are_others_by_moments(was: str, now: str, count: int) -> None:
    one = replace(PAGE, boxes=(box(0, was),))
    other = replace(PAGE, browser="firefox", boxes=(box(0, now),))
    said = [change for change in compare_elements(one, other).changes if "was" in change.what]
    assert len(said) == count


@pytest.mark.parametrize(
    ("was", "now", "x", "y", "changed"),
    [
        ("Into", "Onto", 8, 200, 1),
        ("Into store", "Onto store", 10, 200, 1),
        ("Into", "Onto", 90, 200, 0),
        ("Into", "Onto", 8, 214, 1),
        ("Into", "Onto", 8, 216, 0),
        ("Into", "9", 8, 200, 0),
        ("Into store", "Into", 8, 200, 0),
        ("Internal", "Inter…", 8, 200, 0),
        ("Into", "Label", 8, 200, 0),
    ],
    ids=[
        "a word", "one of two", "elsewhere", "lower", "half of it lower", "a number", "shorter",
        "cut", "of another label",
    ],
)  # fmt: skip
def test_a_label_in_the_place_of_another_counts(
    was: str, now: str, x: int, y: int, changed: int
) -> None:
    def drawing(browser: str, text: str, **place: int) -> Snapshot:
        boxes = (*(box(number, f"Label {number}") for number in range(4)), box(5, text, **place))
        return replace(PAGE, browser=browser, boxes=boxes, looks=(look(display=""),))

    found = compare_elements(drawing("chromium", was), drawing("firefox", now, x=x, y=y))
    assert [change.what for change in found.changes if "was" in change.what] == [
        f"<p> “{now}” was “{was}”"
    ] * changed
    assert found.changed == changed


def test_another_order_is_a_difference_across_browsers() -> None:
    swapped = replace(PAGE, boxes=(*BOXES[:2], BOXES[3], BOXES[2], *BOXES[4:]), browser="firefox")
    [change] = compare_elements(PAGE, swapped).changes[:1]
    assert change.what == "<p> “Paragraph 3” comes in another order"
    # What is shuffled each time says nothing.
    again = replace(swapped, browser=PAGE.browser)
    assert compare_elements(PAGE, swapped, again=again).changed == 0


@pytest.mark.parametrize(
    ("numbers", "changed"),
    [([0, 1, 2, 3, 4, 5], 0), ([0, 2, 3, 4, 5], 0), ([0, 1, 9, 3, 4, 5], 0), ([0, 7, 8, 9], 5)],
    ids=["all", "one left out", "another", "hardly any"],
)
def test_labels_that_a_script_chose_by_letters_do_not_count(
    numbers: list[int], changed: int
) -> None:
    def axis(browser: str, shown: list[int]) -> Snapshot:
        boxes = tuple(box(number, f"Label {number}") for number in shown)
        style = look(position="absolute none")
        return replace(PAGE, browser=browser, boxes=boxes, looks=(style,))

    mine, theirs = axis("chromium", list(range(6))), axis("firefox", numbers)
    assert compare_elements(mine, theirs).changed == changed


def test_what_moves_with_the_block_before_counts_once() -> None:
    moved = tuple(replace(one, rect=replace(one.rect, x=one.rect.x + 9)) for one in BOXES)
    assert compare_elements(PAGE, replace(PAGE, boxes=moved)).shifted == 1


def test_what_differs_from_itself_and_what_is_masked_does_not_count() -> None:
    other = changed(2, style=look(colour="red"))
    assert compare_elements(PAGE, other).restyled == 1
    again = changed(2, style=look(colour="blue"))
    assert compare_elements(PAGE, other, again=again).restyled == 0
    assert (
        compare_elements(PAGE, other, masked=[Rect(x=0, y=70, width=800, height=30)]).changes == ()
    )
    assert (
        compare_elements(PAGE, other, masked=[Rect(x=0, y=0, width=800, height=90)]).restyled == 1
    )


def test_each_change_says_what_of_which_element_and_where() -> None:
    other = changed(2, style=look(colour="rgb(200, 0, 0)", size="20px"))
    [change] = compare_elements(PAGE, other).changes
    assert change.what == (
        "<p> “Paragraph 2” has another colour rgb(0, 0, 0) → rgb(200, 0, 0), another font size "
        "16px → 20px"
    )
    assert change.rect == BOXES[2].rect


def test_controls_and_boxes_without_a_look_are_left_out() -> None:
    others = tuple(replace(one, kind="control", text="other") for one in BOXES[:3])
    bare = tuple(replace(one, look=None, text="other") for one in BOXES[3:])
    page = replace(PAGE, boxes=(*others, *bare))
    assert compare_elements(page, page) == compare_elements(PAGE, PAGE)
    assert isinstance(compare_elements(PAGE, page), ElementDifference)
    assert compare_elements(PAGE, page).lost == 6

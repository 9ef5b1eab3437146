"""Compares the elements of two pages one by one, by what browsers compute of them.

Texts, computed styles, and distances to the element before are the same in every browser, where
the shapes of letters are not; so a small fault shows among two browsers, too.  Elements are
matched in document order by tag and text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pinakes.qa.snapshot import Box, Rect, Snapshot

from .drawings import other_shapes, show_alike
from .drawn_elements import (
    ASPECTS,
    NEAR,
    DrawnElement,
    drawn_elements,
    is_apart,
    is_masked,
    key_of,
    matched_elements,
    restyled_aspects,
)
from .element_difference import ElementChange, ElementDifference
from .labels import chosen_labels, replaced_labels, series_of

_NAMES = {
    "picture": "background picture", "size": "font size", "weight": "font weight",
    "family": "font", "decoration": "font style", "before": "::before", "after": "::after",
    "marker": "marker or value",
}  # fmt: skip
_MOST_NAMED = 20
_LONGEST = 40
COUNTING = "0" * 10
"""What a text has for its numbers that were others a moment later."""

_MOVING = re.compile(r"\d+:\d\d:\d\d|\d+(?:[.,]\d+)?(?= ?(?:ms|s|secs?|seconds?)\b)")
"""Times to the second, and how long something took: other in each look."""
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d)")
_HOUR_S, _DAY_S = 3600, 86400
_FAR = 400
_BROKEN = "broken"
"""What a picture says that could not be loaded: its words are drawn in its place."""


def compare_elements(
    first: Snapshot,
    second: Snapshot,
    *,
    again: Snapshot | None = None,
    masked: Sequence[Rect] = (),
) -> ElementDifference:
    """Compare two snapshots; nothing is read.

    Elements that differ between the first and `again`, a second look at it, do not count, nor do
    those that lie in `masked` for the most part.
    """
    is_across = first.browser != second.browser
    mine, theirs = (
        [one for one in drawn_elements(snapshot) if not is_masked(one.box.rect, masked)]
        for snapshot in (first, second)
    )
    is_in_order = True
    if again is not None:
        once_more = drawn_elements(again)
        pairs_again = matched_elements(mine, once_more)
        is_in_order = not any(_reordered(pairs_again, once_more))
        restless = _restless(pairs_again, mine, once_more, is_exact=is_across)
        mine, theirs = (_without(restless, side) for side in (mine, theirs))
    matched = matched_elements(mine, theirs)
    seen = [(one, two) for one, two in matched if one.is_seen or two.is_seen]
    pairs = [(one, two) for one, two in seen if one.is_drawn_alike]
    restyled = [(pair, names) for pair in seen if (names := restyled_aspects(*pair))]
    # In one browser pictures are decoded below the image alone.
    otherwise = list(_shown_otherwise(seen))
    lost = _left(mine, (one for one, _ in matched))
    added = _left(theirs, (two for _, two in matched))
    if is_across:
        left = *lost, *added
        chosen = chosen_labels(seen, left)
        others = (side for pair in seen if pair[0].box.text != pair[1].box.text for side in pair)
        labels = [one.box.rect for one in (*left, *others) if series_of(one) in chosen]
        replaced = replaced_labels(mine, theirs, lost, added, chosen)
        lost, added = (
            [one for one in side if series_of(one) not in chosen] for side in (lost, added)
        )
        said = (pair for pair in seen if series_of(pair[0]) not in chosen)
        otherwise = [
            *_said_otherwise(said),
            *(_change(two, f"was “{one.box.text[:_LONGEST]}”") for one, two in replaced),
            *otherwise,
            *(_change(two, _sizes(one, two)) for one, two in pairs if _is_stretched(one, two)),
            *(_reordered(matched, theirs) if is_in_order and not (left or chosen) else ()),
            *(
                ElementChange(f"<{shape.tag}> of a drawing {what}", shape.rect)
                for shape, what in other_shapes(first, second, again=again, labels=labels)
                if not is_masked(shape.rect, masked)
            ),
        ]
    shifts, spaces = list(_shifts(pairs)), list(_spaces(pairs))
    widened = [
        pair
        for pair in pairs
        if pair[0].is_block and pair[0].box.kind != "image" and _is_widened(*pair)
    ]
    resized = [pair for pair in pairs if pair[0].box.kind == "image" and _is_resized(*pair)]
    return ElementDifference(
        lost=len(lost),
        added=len(added),
        changed=len(lost) + len(added) + len(restyled) + len(otherwise),
        lost_share=len(lost) / max(1, len(mine)),
        restyled=len(restyled),
        restyled_share=len(restyled) / max(1, len(pairs)),
        shifted=len(shifts),
        shifted_most=float(max((by for _, by in shifts), default=0)),
        spaced=len(spaces),
        spaced_most=float(max((by for _, by in spaces), default=0)),
        widened=len(widened),
        resized=len(resized),
        changes=tuple(
            islice(
                (
                    *(_change(one, "is gone") for one in lost),
                    *(_change(one, "is new") for one in added),
                    *(_change(two, _in_words(one, two, names)) for (one, two), names in restyled),
                    *otherwise,
                    *(_change(two, f"is {by} px further across") for two, by in shifts),
                    *(_change(two, f"is {by} px further down or up") for two, by in spaces),
                    *(_change(two, _sizes(one, two)) for one, two in (*widened, *resized)),
                ),
                _MOST_NAMED,
            )
        ),
    )


def _left(
    all_of_them: Sequence[DrawnElement], matched: Iterable[DrawnElement]
) -> list[DrawnElement]:
    known = set(map(id, matched))
    return [one for one in all_of_them if one.is_seen and one.is_painted and id(one) not in known]


def _said_otherwise(pairs: Iterable[tuple[DrawnElement, DrawnElement]]) -> Iterator[ElementChange]:
    """Texts of the same words with other numbers."""
    for one, two in pairs:
        was, now = (_MOVING.sub("0", drawn.box.text) for drawn in (one, two))
        is_counting = COUNTING in one.box.text or COUNTING in two.box.text
        is_other = was != now or any(map(_is_hours_apart, *map(_clocks, (one, two))))
        if one.box.kind == "text" and is_other and not is_counting:
            yield _change(two, f"was “{one.box.text[:_LONGEST]}”")


def _clocks(drawn: DrawnElement) -> list[int]:
    """The times of day that a text says to the second, in seconds."""
    found = _CLOCK.findall(drawn.box.text)
    return [
        3600 * int(hours) + 60 * int(minutes) + int(seconds) for hours, minutes, seconds in found
    ]


def _is_hours_apart(one: int, other: int) -> bool:
    """Whether no look lasts so long; a clock may have passed midnight."""
    apart = abs(one - other) % _DAY_S
    return _HOUR_S <= apart <= _DAY_S - _HOUR_S


def _shown_otherwise(pairs: Sequence[tuple[DrawnElement, DrawnElement]]) -> Iterator[ElementChange]:
    for one, two in pairs:
        if not show_alike(one.shows, two.shows):
            yield _change(two, "shows something else")


def _reordered(
    pairs: Sequence[tuple[DrawnElement, DrawnElement]], theirs: Sequence[DrawnElement]
) -> Iterator[ElementChange]:
    """Of elements that are the same, those that come sooner than one that was before them."""
    places = {id(one): place for place, one in enumerate(theirs)}
    last = -1
    for one, two in pairs:
        if one.box.text != two.box.text:
            continue
        if places[id(two)] < last and two.is_seen and two.is_painted:
            yield _change(two, "comes in another order")
        last = max(last, places[id(two)])


def _change(drawn: DrawnElement, what: str) -> ElementChange:
    box = drawn.box
    text = f" “{box.text[:_LONGEST]}”" if box.text else ""
    return ElementChange(f"<{box.tag}>{text} {what}", box.rect)


def _in_words(one: DrawnElement, other: DrawnElement, names: Sequence[str]) -> str:
    was, now = (dict(zip(ASPECTS, drawn.aspects, strict=True)) for drawn in (one, other))
    said = (
        f"{_NAMES.get(name, name)} {was[name][:_LONGEST] or 'none'} → "
        f"{now[name][:_LONGEST] or 'none'}"
        for name in names[:2]
    )
    return f"has another {', another '.join(said)}"


def _sizes(one: DrawnElement, other: DrawnElement) -> str:
    was, now = one.box.rect, other.box.rect
    return f"has {now.width} × {now.height} px in place of {was.width} × {was.height}"


def _without(restless: Sequence[DrawnElement], side: Sequence[DrawnElement]) -> list[DrawnElement]:
    """Those that are none of these, and lie where none of them does: a carousel's next slide.

    Boxes without a text are many of one name: of these the same in number count, and what is in
    them may be at rest.
    """
    shown = [one for one in restless if one.box.kind != "block"]
    keys, rects = {key_of(one) for one in shown}, [one.box.rect for one in shown[:_MOST_NAMED]]
    blocks = {one.place for one in restless if one.box.kind == "block"}
    return [
        one
        for one in side
        if one.place not in blocks
        and key_of(one) not in keys
        and not is_masked(one.box.rect, rects)
    ]


def _restless(
    pairs: Sequence[tuple[DrawnElement, DrawnElement]],
    mine: Sequence[DrawnElement],
    again: Sequence[DrawnElement],
    *,
    is_exact: bool,
) -> list[DrawnElement]:
    """Elements that are not the same in two looks at one page, of both; `pairs` are those matched.

    `is_exact`: nor are those whose text has other numbers, or whose picture shows something else.
    """
    moved = (
        one
        for one, two in pairs
        if one.aspects != two.aspects
        or one.box.rect != two.box.rect
        or (is_exact and (one.box.text, one.shows) != (two.box.text, two.shows))
    )
    left = (*_left(mine, (one for one, _ in pairs)), *_left(again, (two for _, two in pairs)))
    return [*moved, *left]


def _shifts(
    pairs: Sequence[tuple[DrawnElement, DrawnElement]],
) -> Iterator[tuple[DrawnElement, int]]:
    """How far blocks moved across, but for those that moved as far as the one before."""
    before = 0
    for one, other in pairs:
        if not one.is_block:
            continue
        shift = other.box.rect.x - one.box.rect.x
        if abs(shift) > NEAR and abs(shift - before) > NEAR:
            yield other, min(_FAR, abs(shift))
        before = shift


def _spaces(
    pairs: Sequence[tuple[DrawnElement, DrawnElement]],
) -> Iterator[tuple[DrawnElement, int]]:
    """By how much the distance of a block below the one before changed."""
    last: tuple[DrawnElement, DrawnElement] | None = None
    for pair in pairs:
        if not pair[0].is_block:
            continue
        if last is not None:
            spaces = [_space(side.box, box.box) for side, box in zip(last, pair, strict=True)]
            if abs(spaces[0] - spaces[1]) > NEAR:
                yield pair[1], min(_FAR, abs(spaces[0] - spaces[1]))
        last = pair


def _space(above: Box, box: Box) -> int:
    """From the lower edge of the one above, or its upper edge if it holds the other."""
    bottom = above.rect.y + above.rect.height
    return box.rect.y - (bottom if box.rect.y >= bottom else above.rect.y)


def _is_widened(one: DrawnElement, other: DrawnElement) -> bool:
    return is_apart(one.box.rect.width, other.box.rect.width)


def _is_resized(one: DrawnElement, other: DrawnElement) -> bool:
    was, now = one.box.rect, other.box.rect
    return is_apart(was.width, now.width) or is_apart(was.height, now.height)


def _is_stretched(one: DrawnElement, other: DrawnElement) -> bool:
    """Whether a picture has other proportions, which letters around it give to none."""
    was, now = one.box.rect, other.box.rect
    most = max(abs(was.width - now.width), abs(was.height - now.height))
    rounding = (was.width + was.height + now.width + now.height) / 2 + 1
    apart = abs(was.width * now.height - now.width * was.height)
    is_whole = one.box.tag == "img" and _BROKEN not in (one.box.text, other.box.text)
    return is_whole and most > NEAR and apart > rounding

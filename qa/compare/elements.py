"""Compares the elements of two pages one by one, by what browsers compute of them.

Texts, computed styles, and distances to the element before are the same in every browser, where
the shapes of letters are not; so a small fault shows among two browsers, too.  Elements are
matched in document order by tag and text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.qa.snapshot import Box, Rect, Snapshot

from .aspects import ASPECTS, is_automatic, is_code, is_near, is_turned_alike
from .drawings import other_shapes, show_alike
from .element_difference import ElementChange, ElementDifference

_NAMES = {
    "picture": "background picture", "size": "font size", "weight": "font weight",
    "family": "font", "decoration": "font style", "before": "::before", "after": "::after",
}  # fmt: skip
_MOST_NAMED = 20
_OF_PLACE = frozenset({"transform", "margin", "width"})
_FEW_LABELS = 2
_LONGEST = 40
_LETTERED = frozenset({"text", "control"})
_OF_LETTERS = frozenset({"colour", "size", "weight", "family", "line height", "spacing"})
"""Inherited: where no letters are drawn nobody sees them."""
_CLEAR = frozenset({"", "rgba(0, 0, 0, 0)", "transparent", "rgba(0, 0, 0, 0.00)"})
_INLINE = frozenset({"inline", "contents", ""})
_LEAST = 3
"""CSS pixels; what is smaller counts visitors, and is not seen."""
_NUMBER = re.compile("[0-9]+")
_OWN = frozenset(
    {"progress", "meter", "fieldset", "hr", "option", "optgroup", "marquee", "rt", "rp"}
)
"""Drawn by each browser in its own way, as form controls are; whether they are there counts."""
_OF_CONTROLS = frozenset(
    {
        *("border", "shadow", "marker", "width", "before", "after", "opacity"),
        *("colour", "background", "picture"),
    }
)
"""What a page gives to controls, where a browser does not draw its own; whether one is chosen."""
_LINES = re.compile("outset|inset|ridge|groove|double")
"""What one browser calls `solid` another calls so, of tables' borders."""
COUNTING = "0" * 10
"""What a text has for its numbers that were others a moment later."""

_MOVING = re.compile(r"\d+:\d\d:\d\d|\d+(?:[.,]\d+)?(?= ?(?:ms|s|secs?|seconds?)\b)")
"""Times to the second, and how long something took: other in each look."""
_NEAR = 2
"""CSS pixels; browsers round edges otherwise."""
_FAR = 400


class _Drawn(NamedTuple):
    box: Box
    aspects: tuple[str, ...]
    place: tuple[str, int]
    """Which of its tag's boxes in the page it is."""
    shows: str
    """What a picture shows, in cells."""

    @property
    def is_block(self) -> bool:
        return self.of("display") not in _INLINE

    @property
    def is_seen(self) -> bool:
        return min(self.box.rect.width, self.box.rect.height) >= _LEAST

    @property
    def has_letters(self) -> bool:
        """Whether letters are drawn of it: its own text, or what is generated, or a list's dot."""
        marker = self.box.kind == "block" and self.of("marker") not in ("", "none")
        return self.box.kind in _LETTERED or marker or bool(self.of("before") or self.of("after"))

    @property
    def is_painted(self) -> bool:
        """Whether anything is drawn of it, besides what is in it."""
        if self.box.kind != "block" or self.has_letters or self.of("picture"):
            return True
        is_lined = bool(self.of("border").strip(",")) or self.of("shadow") not in ("", "nonenone")
        return is_lined or self.of("background") not in _CLEAR

    def of(self, aspect: str) -> str:
        """One of its aspects."""
        return self.aspects[ASPECTS.index(aspect)]

    @property
    def is_drawn_alike(self) -> bool:
        return self.box.kind != "control" and self.box.tag not in _OWN


class DrawnElement(NamedTuple):
    """An element, where it is, and all that is known of how it is drawn."""

    tag: str
    rect: Rect
    how: tuple[str, ...]


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
        [one for one in _drawn(snapshot) if not _is_masked(one.box.rect, masked)]
        for snapshot in (first, second)
    )
    if again is not None:
        restless = _restless(mine, _drawn(again), is_exact=is_across)
        mine, theirs = (_without(restless, side) for side in (mine, theirs))
    matched = _matched(mine, theirs)
    seen = [(one, two) for one, two in matched if one.is_seen or two.is_seen]
    pairs = [(one, two) for one, two in seen if one.is_drawn_alike]
    restyled = [(pair, names) for pair in seen if (names := _restyled(*pair))]
    # In one browser pictures are decoded below the image alone.
    otherwise = list(_shown_otherwise(seen))
    lost = _left(mine, (one for one, _ in matched))
    added = _left(theirs, (two for _, two in matched))
    if is_across:
        left = *lost, *added
        chosen = _chosen_labels(seen, left)
        others = (side for pair in seen if pair[0].box.text != pair[1].box.text for side in pair)
        labels = [one.box.rect for one in (*left, *others) if _series(one) in chosen]
        lost, added = (
            [one for one in side if _series(one) not in chosen] for side in (lost, added)
        )
        said = (pair for pair in seen if _series(pair[0]) not in chosen)
        otherwise = [
            *_said_otherwise(said),
            *otherwise,
            *(
                ElementChange(f"<{shape.tag}> of a drawing {what}", shape.rect)
                for shape, what in other_shapes(first, second, again=again, labels=labels)
                if not _is_masked(shape.rect, masked)
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


def elements_below(snapshot: Snapshot, top: int, masked: Sequence[Rect]) -> Counter[DrawnElement]:
    """Elements that reach below `top`, which are the same where one browser draws the same."""
    return Counter(
        DrawnElement(
            one.box.tag, one.box.rect, (one.box.kind, one.box.text, one.shows, *one.aspects)
        )
        for one in _drawn(snapshot)
        if one.is_seen
        and one.box.rect.y + one.box.rect.height > top
        and not _is_masked(one.box.rect, masked)
    )


def _left(all_of_them: Sequence[_Drawn], matched: Iterable[_Drawn]) -> list[_Drawn]:
    known = set(map(id, matched))
    return [one for one in all_of_them if one.is_seen and one.is_painted and id(one) not in known]


def _restyled(one: _Drawn, other: _Drawn) -> list[str]:
    """The aspects that differ."""
    pairs = zip(ASPECTS, one.aspects, other.aspects, strict=True)
    found = [
        name for name, mine, theirs in pairs if mine != theirs and not is_near(name, mine, theirs)
    ]
    # Whether it fills its room is asked of what is as wide as it was, by whatever rounding.
    is_as_wide = not _is_apart(one.box.rect.width, other.box.rect.width)
    found = [
        name
        for name in found
        if not (name == "width" and is_as_wide)
        and not (name == "size" and is_code(one.box.tag, one.aspects, other.aspects))
    ]
    if not (one.has_letters or other.has_letters):
        found = [name for name in found if name not in _OF_LETTERS]
    rects = one.box.rect, other.box.rect
    if "margin" in found and is_automatic(one.aspects, other.aspects, *rects):
        found.remove("margin")
    turns = one.of("transform"), other.of("transform")
    if "transform" in found and is_turned_alike(*turns, *rects):
        found.remove("transform")
    if one.is_drawn_alike:
        return found
    return [name for name in found if name in _OF_CONTROLS and one.box.kind == "control"]


def _series(one: _Drawn) -> tuple[str, ...] | None:
    """What labels of one axis or chart have in common; None of what is no label: those are texts of
    a drawing, or absolutely placed."""
    is_label = one.box.kind == "text" and (
        not one.of("display") or one.of("position").startswith("absolute")
    )
    names = (name for name in ASPECTS if name not in _OF_PLACE)
    return (one.box.tag, *map(one.of, names)) if is_label else None


def _chosen_labels(
    pairs: Sequence[tuple[_Drawn, _Drawn]], left: Sequence[_Drawn]
) -> set[tuple[str, ...]]:
    """Series of labels of which some are the same in both browsers, and others in one alone.

    Scripts leave out what would lie upon another, by the width of letters.
    """
    kept = Counter(_series(one) for one, two in pairs if one.box.text == two.box.text)
    others = Counter(map(_series, left))
    others.update(_series(one) for one, two in pairs if one.box.text != two.box.text)
    return {
        series
        for series, count in others.items()
        if series is not None and kept[series] >= _FEW_LABELS and count <= 2 * kept[series]
    }


def _said_otherwise(pairs: Iterable[tuple[_Drawn, _Drawn]]) -> Iterator[ElementChange]:
    """Texts of the same words with other numbers."""
    for one, two in pairs:
        was, now = (_MOVING.sub("0", drawn.box.text) for drawn in (one, two))
        is_counting = COUNTING in one.box.text or COUNTING in two.box.text
        if one.box.kind == "text" and was != now and not is_counting:
            yield _change(two, f"was “{one.box.text[:_LONGEST]}”")


def _shown_otherwise(pairs: Sequence[tuple[_Drawn, _Drawn]]) -> Iterator[ElementChange]:
    for one, two in pairs:
        if not show_alike(one.shows, two.shows):
            yield _change(two, "shows something else")


def _change(drawn: _Drawn, what: str) -> ElementChange:
    box = drawn.box
    text = f" “{box.text[:_LONGEST]}”" if box.text else ""
    return ElementChange(f"<{box.tag}>{text} {what}", box.rect)


def _in_words(one: _Drawn, other: _Drawn, names: Sequence[str]) -> str:
    was, now = (dict(zip(ASPECTS, drawn.aspects, strict=True)) for drawn in (one, other))
    said = (
        f"{_NAMES.get(name, name)} {was[name][:_LONGEST] or 'none'} → "
        f"{now[name][:_LONGEST] or 'none'}"
        for name in names[:2]
    )
    return f"has another {', another '.join(said)}"


def _sizes(one: _Drawn, other: _Drawn) -> str:
    was, now = one.box.rect, other.box.rect
    return f"has {now.width} × {now.height} px in place of {was.width} × {was.height}"


def _drawn(snapshot: Snapshot) -> list[_Drawn]:
    looks = [tuple(_LINES.sub("solid", look).split("|")) for look in snapshot.looks]
    counts: Counter[str] = Counter()
    found = []
    for box in snapshot.boxes:
        if box.look is not None and box.look < len(looks) and len(looks[box.look]) == len(ASPECTS):
            place, shows = (box.tag, counts[box.tag]), ""
            if box.decoded is not None and 0 <= box.decoded < len(snapshot.decoded):
                shows = snapshot.decoded[box.decoded]
            found.append(_Drawn(box, looks[box.look], place, shows))
            counts[box.tag] += 1
    return found


def _key(drawn: _Drawn) -> tuple[str, str, str]:
    """Numbers of texts are one: dates and counters are others each time."""
    box = drawn.box
    return box.kind, box.tag, _NUMBER.sub("0", box.text) if box.kind == "text" else box.text


def _without(restless: Sequence[_Drawn], side: Sequence[_Drawn]) -> list[_Drawn]:
    """Those that are none of these, and lie where none of them does: a carousel's next slide.

    Boxes without a text are many of one name: of these the same in number count, and what is in
    them may be at rest.
    """
    shown = [one for one in restless if one.box.kind != "block"]
    keys, rects = {_key(one) for one in shown}, [one.box.rect for one in shown[:_MOST_NAMED]]
    blocks = {one.place for one in restless if one.box.kind == "block"}
    return [
        one
        for one in side
        if one.place not in blocks and _key(one) not in keys and not _is_masked(one.box.rect, rects)
    ]


def _restless(mine: Sequence[_Drawn], again: Sequence[_Drawn], *, is_exact: bool) -> list[_Drawn]:
    """Elements that are not the same in two looks at one page, of both.

    `is_exact`: nor are those whose text has other numbers, or whose picture shows something else.
    """
    pairs = _matched(mine, again)
    moved = (
        one
        for one, two in pairs
        if one.aspects != two.aspects
        or one.box.rect != two.box.rect
        or (is_exact and (one.box.text, one.shows) != (two.box.text, two.shows))
    )
    left = (*_left(mine, (one for one, _ in pairs)), *_left(again, (two for _, two in pairs)))
    return [*moved, *left]


def _is_masked(rect: Rect, masked: Sequence[Rect]) -> bool:
    area = rect.width * rect.height
    return any(2 * _common(rect, mask) > area for mask in masked)


def _common(one: Rect, other: Rect) -> int:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0, width) * max(0, height)


def _matched(mine: Sequence[_Drawn], theirs: Sequence[_Drawn]) -> list[tuple[_Drawn, _Drawn]]:
    """The nth of a kind, tag and text with the nth, in the order of the first; of those that are
    left, the nth of a text with other numbers."""
    found: dict[int, _Drawn] = {}
    for key in (lambda one: (one.box.kind, one.box.tag, one.box.text), _key):
        taken = set(map(id, found.values()))
        waiting: dict[tuple[str, str, str], list[_Drawn]] = defaultdict(list)
        for other in reversed(theirs):
            if id(other) not in taken:
                waiting[key(other)].append(other)
        for one in mine:
            others = waiting.get(key(one))
            if others and id(one) not in found:
                found[id(one)] = others.pop()
    return [(one, found[id(one)]) for one in mine if id(one) in found]


def _shifts(pairs: Sequence[tuple[_Drawn, _Drawn]]) -> Iterator[tuple[_Drawn, int]]:
    """How far blocks moved across, but for those that moved as far as the one before."""
    before = 0
    for one, other in pairs:
        if not one.is_block:
            continue
        shift = other.box.rect.x - one.box.rect.x
        if abs(shift) > _NEAR and abs(shift - before) > _NEAR:
            yield other, min(_FAR, abs(shift))
        before = shift


def _spaces(pairs: Sequence[tuple[_Drawn, _Drawn]]) -> Iterator[tuple[_Drawn, int]]:
    """By how much the distance of a block below the one before changed."""
    last: tuple[_Drawn, _Drawn] | None = None
    for pair in pairs:
        if not pair[0].is_block:
            continue
        if last is not None:
            spaces = [_space(side.box, box.box) for side, box in zip(last, pair, strict=True)]
            if abs(spaces[0] - spaces[1]) > _NEAR:
                yield pair[1], min(_FAR, abs(spaces[0] - spaces[1]))
        last = pair


def _space(above: Box, box: Box) -> int:
    """From the lower edge of the one above, or its upper edge if it holds the other."""
    bottom = above.rect.y + above.rect.height
    return box.rect.y - (bottom if box.rect.y >= bottom else above.rect.y)


def _is_widened(one: _Drawn, other: _Drawn) -> bool:
    return _is_apart(one.box.rect.width, other.box.rect.width)


def _is_resized(one: _Drawn, other: _Drawn) -> bool:
    was, now = one.box.rect, other.box.rect
    return _is_apart(was.width, now.width) or _is_apart(was.height, now.height)


def _is_apart(one: int, other: int) -> bool:
    return abs(one - other) > max(_NEAR, one // 50)

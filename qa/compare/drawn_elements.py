"""The elements of a page as a snapshot has them, matched with those of another, and what of their
style differs.

How an element is drawn is said in the words of `drawn.js`; what browsers say otherwise of the same
is no difference.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pinakes.qa.snapshot import Box, Rect, Snapshot

from .drawings import shown_by

ASPECTS = (
    "colour", "background", "picture", "border", "size", "weight", "family", "decoration",
    "transform", "opacity", "display", "before", "after",
    "margin", "padding", "width", "position", "alignment", "line height", "spacing", "marker",
    "shadow", "corners", "layout", "paint",
)  # fmt: skip
"""What a look of `Snapshot.looks` says, in its order, between bars."""

_ROUNDED = frozenset({"margin", "padding", "line height", "corners", "width"})
_LENGTH = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\Z")
_CODE = frozenset({"code", "kbd", "samp", "tt", "pre"})
_SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)?(?=px\Z)")
_MATRIX = re.compile(r"(matrix|matrix3d)\((-?[0-9.]+(?:, -?[0-9.]+)*)\)")
_MOVES = {6: (4, 5), 16: (12, 13, 14)}
_SINE = 0.02
_ROUNDING = 0.15
"""CSS pixels, between letters."""
_SIDES = ("top", "right", "bottom", "left")
_ROOM = 50
"""CSS pixels; a margin that is wider may be what is left."""

_LETTERS = 1.1
"""How much wider what letters leave may be in one browser."""
_NEAR = 2


def is_near(name: str, mine: str, theirs: str) -> bool:
    """Whether lengths are the same but for how a browser rounds them."""
    if name == "spacing":
        return _is_spaced_alike(mine.split(), theirs.split())
    if name not in _ROUNDED or mine.count(",") != theirs.count(","):
        return False
    return all(
        one == other or (_LENGTH.match(one) and _LENGTH.match(other) and _is_close(one, other))
        for one, other in zip(mine.split(","), theirs.split(","), strict=True)
    )


def _is_spaced_alike(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    if len(mine) != len(theirs):
        return False
    for one, other in zip(mine, theirs, strict=True):
        lengths = _SIZE.match(one), _SIZE.match(other)
        is_rounded = all(lengths) and abs(float(one[:-2]) - float(other[:-2])) <= _ROUNDING
        if one != other and not is_rounded:
            return False
    return True


def _is_close(one: str, other: str) -> bool:
    was, now = float(one), float(other)
    return abs(was - now) <= max(1, abs(was) / 25)


def is_automatic(was: Sequence[str], now: Sequence[str], mine: Rect, theirs: Rect) -> bool:
    """Whether side margins take what room letters leave, or differ where the box does not.

    Of `auto` one browser says what it came to, another sometimes that it is nothing.
    """
    at = ASPECTS.index("margin")
    before, after = was[at].split(","), now[at].split(",")
    if len(before) != len(_SIDES) or len(after) != len(_SIDES):
        return False
    differing = [
        (side, one, other)
        for side, one, other in zip(_SIDES, before, after, strict=True)
        if one != other and not is_near("margin", one, other)
    ]
    lengths = [float(text) for _, *both in differing for text in both if _LENGTH.match(text)]
    if any(side in ("top", "bottom") for side, *_ in differing) or max(lengths, default=0) < _ROOM:
        return False
    if abs(mine.x - theirs.x) <= _NEAR and abs(mine.width - theirs.width) <= _NEAR:
        return True
    is_of_letters = max(lengths) <= _LETTERS * min(lengths)
    return len(lengths) == len((mine, theirs)) and is_of_letters


def is_turned_alike(was: str, now: str, mine: Rect, theirs: Rect) -> bool:
    """Whether two matrices of `transform` are the same, but for how sines are rounded, and for what
    of a move is a part of the box's size, which its letters give."""
    one, other = _MATRIX.fullmatch(was), _MATRIX.fullmatch(now)
    if one is None or other is None or one[1] != other[1]:
        return False
    before, after = (list(map(float, found[2].split(","))) for found in (one, other))
    moves = _MOVES.get(len(before))
    if moves is None or len(before) != len(after):
        return False
    room = _NEAR + abs(mine.width - theirs.width) + abs(mine.height - theirs.height)
    return all(
        abs(a - b) <= (max(room, abs(a) / 50) if at in moves else max(_SINE, abs(a) / 50))
        for at, (a, b) in enumerate(zip(before, after, strict=True))
    )


def is_code(tag: str, was: Sequence[str], now: Sequence[str]) -> bool:
    """Whether both have the generic font of code, whose size browsers take from 13 px, or from 16.

    Not from the same elements around it: of code in a heading one does, another does not.
    """
    size, family = ASPECTS.index("size"), ASPECTS.index("family")
    sizes = [float(found[0]) for side in (was, now) if (found := _SIZE.match(side[size]))]
    return (
        tag in _CODE
        and was[family] == now[family] == "monospace"
        and len(sizes) == len((was, now))
        and max(sizes) * 13 <= min(sizes) * 16
    )


_LETTERED = frozenset({"text", "control"})
_OF_LETTERS = frozenset({"colour", "size", "weight", "family", "line height", "spacing"})
"""Inherited: where no letters are drawn no one sees them."""
_CLEAR = frozenset({"", "rgba(0, 0, 0, 0)", "transparent", "rgba(0, 0, 0, 0.00)"})
_INLINE = frozenset({"inline", "contents", ""})
_LEAST = 3
"""CSS pixels; what is smaller counts visitors, and is not seen."""
_LINE = 16
"""CSS pixels, from which a painted block is a line, however thin."""
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
_OF_OWN = {
    "hr": frozenset({"border", "background", "shadow", "opacity"}),
    "progress": frozenset({"marker", "opacity"}),
    "meter": frozenset({"marker", "opacity"}),
}
"""What a page gives to others that browsers draw themselves, and what those show."""
_LINES = re.compile("outset|inset|ridge|groove")
"""What one browser calls `solid` another calls so, of tables' borders."""
_SYSTEM = {"rgb(233, 233, 237)": "rgb(239, 239, 239)", "rgb(143, 143, 157)": "rgb(0, 0, 0)"}
"""What Firefox has for ButtonFace and ButtonBorder (CSS Color Module Level 4, §6.2), and what
Chromium has."""
NEAR = 2
"""CSS pixels; browsers round edges otherwise."""


class DrawnElement(NamedTuple):
    """An element that is drawn, and how."""

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
        rect = self.box.rect
        if min(rect.x + rect.width, rect.y + rect.height) <= 0:  # put away outside the page
            return False
        thin, long = sorted((rect.width, rect.height))
        is_line = self.box.kind == "block" and thin >= 1 and long >= _LINE and self.is_painted
        return thin >= _LEAST or is_line

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


def drawn_elements(snapshot: Snapshot) -> list[DrawnElement]:
    """Those of a snapshot that have a look, in the document's order."""
    looks = [tuple(_in_common(look, snapshot.browser).split("|")) for look in snapshot.looks]
    counts: Counter[str] = Counter()
    found = []
    for box in snapshot.boxes:
        if box.look is not None and box.look < len(looks) and len(looks[box.look]) == len(ASPECTS):
            place = box.tag, counts[box.tag]
            found.append(DrawnElement(box, looks[box.look], place, shown_by(snapshot, box)))
            counts[box.tag] += 1
    return found


def _in_common(look: str, browser: str) -> str:
    """A look in words that two browsers share."""
    if browser == "firefox":
        for theirs, ours in _SYSTEM.items():
            look = look.replace(theirs, ours)
    return _LINES.sub("solid", look)


def key_of(drawn: DrawnElement) -> tuple[str, str, str]:
    """Numbers of texts are one: dates and counters are others each time."""
    box = drawn.box
    return box.kind, box.tag, _NUMBER.sub("0", box.text) if box.kind == "text" else box.text


def matched_elements(
    mine: Sequence[DrawnElement], theirs: Sequence[DrawnElement]
) -> list[tuple[DrawnElement, DrawnElement]]:
    """The nth of a kind, tag and text with the nth, in the order of the first; of those that are
    left, the nth of a text with other numbers."""
    found: dict[int, DrawnElement] = {}
    for key in (lambda one: (one.box.kind, one.box.tag, one.box.text), key_of):
        taken = set(map(id, found.values()))
        waiting: dict[tuple[str, str, str], list[DrawnElement]] = defaultdict(list)
        for other in reversed(theirs):
            if id(other) not in taken:
                waiting[key(other)].append(other)
        for one in mine:
            others = waiting.get(key(one))
            if others and id(one) not in found:
                found[id(one)] = others.pop()
    return [(one, found[id(one)]) for one in mine if id(one) in found]


def restyled_aspects(one: DrawnElement, other: DrawnElement) -> list[str]:
    """The aspects that differ."""
    pairs = zip(ASPECTS, one.aspects, other.aspects, strict=True)
    found = [
        name for name, mine, theirs in pairs if mine != theirs and not is_near(name, mine, theirs)
    ]
    # Whether it fills its room is asked of what is as wide as it was, up to rounding.
    is_as_wide = not is_apart(one.box.rect.width, other.box.rect.width)
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
    own = _OF_CONTROLS if one.box.kind == "control" else _OF_OWN.get(one.box.tag, frozenset())
    return [name for name in found if name in own]


def is_apart(one: int, other: int) -> bool:
    """Whether lengths differ by more than rounding and letters do."""
    return abs(one - other) > max(NEAR, one // 50)


def is_masked(rect: Rect, masked: Sequence[Rect]) -> bool:
    """Whether most of it is in one of these."""
    return any(2 * rect.shared(mask) > rect.area for mask in masked)

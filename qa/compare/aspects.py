"""How an element is drawn, in the words of `drawn.js`, and what of it browsers say otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pinakes.qa.snapshot import Rect

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

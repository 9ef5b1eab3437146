"""Compares what pictures show, as two browsers have decoded them, and the shapes of drawings.

Both browsers decode the same pixels of the same bytes, and compute the same paint of the same
shape, where what they draw of either differs by how edges are smoothed.  Standard library only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pinakes.qa.snapshot import Box, Rect, Snapshot, SvgShape

_CELLS = re.compile(
    r"([~=]?)([0-9]{1,4})x([0-9]{1,4}):((?:[0-9a-f]{2})*)(?:\|((?:[0-9a-f]{2})*))?(?::([01]*))?"
)
_COLOURS = 3
_ANYWHERE = "~"
_BROKEN = "broken"
"""What a background shows that could not be loaded."""

_APART = 3
"""Of 255: how far a colour of a cell is from another's.  Decoded alike they are 1 apart at most."""

_CONVERTED_APART = 12
"""The same once each browser has converted a gamma or a profile: 5 apart with a gamma of 0.55."""

_DRAWN_APART, _MANY_APART, _MANY = 24, 10, 12
"""The same of what a browser draws itself, on a canvas or of a drawing in SVG, and how far more
than so many may not be: edges are smoothed otherwise, blended colours rounded, by 14 at most."""

_LETTERS_APART = 45
"""The same where there may be letters."""

_LAID_OUT = 0.15
"""The share of the edges of a drawing that is elsewhere where all of it is, by a pixel or two."""

_AROUND = 100
"""Pixels; labels are next to what they label."""

_BESIDE_LETTERS = (6, 6, 3, 3, 12), 50
"""How far the place of a shape may be from another, in pixels of the drawing, and as a part of the
number: what scripts put next to letters is a little elsewhere."""

_WITHOUT_LETTERS = (1, 1, 1, 1, 4), 200
"""The same of a drawing without letters."""


def shown_by(snapshot: Snapshot, box: Box) -> str:
    """What a box shows, as cells of `show_alike`; empty if that is not known."""
    if box.decoded is None or not 0 <= box.decoded < len(snapshot.decoded):
        return ""
    return snapshot.decoded[box.decoded]


def show_alike(one: str, other: str) -> bool:
    """Whether two pictures show the same, by their cells: `COLUMNSxROWS:HEX`, two digits a
    colour; several that are shown in one place have `;` between them.

    Behind `=` cells are drawn by the browser itself, not decoded; those with a 1 in the list that
    may follow hold letters, and after `~` any may.  Such a cell may have any colour between those
    of the cells around it, since letters are a little elsewhere.  With `~` and a list, a script may
    have laid it all out by letters: then it differs at most of its edges.

    Behind `|` are the colours as they are shown, where the file has a gamma or a profile: those
    before it are the file's.

    A picture that could not be loaded is `broken`.  True if either is not such a text, or if
    their sizes differ: sizes are compared elsewhere.
    """
    pictures = one.split(";"), other.split(";")
    if one == other or len(pictures[0]) != len(pictures[1]):
        return True
    return all(_is_alike(*both) for both in zip(*pictures, strict=True))


def _is_alike(one: str, other: str) -> bool:
    if one == other or not one or not other:
        return True
    if _BROKEN in (one, other):
        return False
    was, now = _read_cells(one), _read_cells(other)
    if was is None or now is None or (was.columns, was.rows) != (now.columns, now.rows):
        return True
    if bool(was.how) is not bool(now.how):
        return True
    if not was.how:
        return _are_near(was.colours, now.colours, _APART) and _are_near(
            was.shown, now.shown, _CONVERTED_APART
        )
    return _are_drawn_alike(was, now)


def _are_near(some: bytes, others: bytes, least: int) -> bool:
    return all(abs(a - b) < least for a, b in zip(some, others, strict=True))


class _Cells(NamedTuple):
    """What a text for `show_alike` says: who drew them, how many they are, their colours (in the
    file, and as they are shown), and which hold letters, as far as that is known."""

    how: str
    columns: int
    rows: int
    colours: bytes
    shown: bytes
    lettered: frozenset[int] | None


def _read_cells(text: str) -> _Cells | None:
    found = _CELLS.fullmatch(text)
    if found is None:
        return None
    how, columns, rows, colours, shown, marks = found.groups()
    digits = 2 * _COLOURS * int(columns) * int(rows)
    if len(colours) != digits or len(shown or colours) != digits:
        return None
    lettered = frozenset(at for at, mark in enumerate(marks or "") if mark == "1")
    return _Cells(
        how,
        int(columns),
        int(rows),
        bytes.fromhex(colours),
        bytes.fromhex(shown or colours),
        lettered if marks is not None else None,
    )


def _are_drawn_alike(was: _Cells, now: _Cells) -> bool:
    mine, theirs, columns, rows = was.colours, now.colours, was.columns, was.rows
    apart = [at for at, a in enumerate(mine) if abs(a - theirs[at]) >= _MANY_APART]
    lettered = (was.lettered or frozenset()) | (now.lettered or frozenset())
    clear = [at for at in apart if at // _COLOURS not in lettered]
    most = max((abs(mine[at] - theirs[at]) for at in clear), default=0)
    if _ANYWHERE not in (was.how, now.how):
        if len(clear) > _MANY or most >= _DRAWN_APART:
            return False
    elif None not in (was.lettered, now.lettered) and most >= _LETTERS_APART:
        edges = _edges(mine, columns) | _edges(theirs, columns)
        moved = {at // _COLOURS for at in clear if abs(mine[at] - theirs[at]) >= _DRAWN_APART}
        if len(moved) < _LAID_OUT * len(edges - lettered):
            return False
    return not any(_strange(mine, theirs, columns, rows, apart)) and not any(
        _strange(theirs, mine, columns, rows, apart)
    )


def _edges(colours: Sequence[int], columns: int) -> set[int]:
    """Cells that have another colour than the one on their left, or above."""
    row = _COLOURS * columns
    return {
        at // _COLOURS
        for at, colour in enumerate(colours)
        if (at % row >= _COLOURS and abs(colour - colours[at - _COLOURS]) >= _DRAWN_APART)
        or (at >= row and abs(colour - colours[at - row]) >= _DRAWN_APART)
    }


def _strange(
    mine: Sequence[int], theirs: Sequence[int], columns: int, rows: int, apart: Sequence[int]
) -> Iterator[bool]:
    """Colours of cells that none of the cells around it in the other has, nor a mix of them."""
    for at in apart:
        colour = mine[at]
        if abs(colour - theirs[at]) < _LETTERS_APART:
            continue
        cell, band = divmod(at, _COLOURS)
        y, x = divmod(cell, columns)
        near = [
            theirs[_COLOURS * (row * columns + column) + band]
            for row in range(max(0, y - 1), min(rows, y + 2))
            for column in range(max(0, x - 1), min(columns, x + 2))
        ]
        yield not min(near) - _LETTERS_APART < colour < max(near) + _LETTERS_APART


def other_shapes(
    first: Snapshot,
    second: Snapshot,
    *,
    again: Snapshot | None = None,
    labels: Sequence[Rect] = (),
) -> Iterator[tuple[SvgShape, str]]:
    """Shapes that are gone, are new, or are painted or placed otherwise, with what they are.

    Not those of drawings that move, or that differ between the first and `again`; nor what is a
    line in those around `labels`, which a script has chosen by the width of letters: with a label
    it leaves out the line to it.
    """
    restless = set()
    if again is not None:
        restless = {shape.drawing for shape, _ in other_shapes(first, again)}
    restless |= {shape.drawing for side in (first, second) for shape in side.shapes if shape.moves}
    labelled = _holding(first, labels) | _holding(second, labels)
    mine, theirs = (dict(_numbered(side, restless, labelled)) for side in (first, second))
    # Where a list is cut short, what comes after its end is unknown.
    is_whole = all(side.shapes_total == len(side.shapes) for side in (first, second))
    for key, shape in mine.items():
        if key not in theirs:
            if is_whole:
                yield shape, "is gone"
            continue
        now = theirs[key]
        was_painted, is_painted = _paint(first, shape), _paint(second, now)
        if was_painted != is_painted:
            yield now, f"is painted {is_painted or 'not at all'}, and was {was_painted}"
        elif not _is_placed_alike(shape, now):
            yield now, f"is at {_words(now.place)}, and was at {_words(shape.place)}"
    if is_whole:
        yield from ((shape, "is new") for key, shape in theirs.items() if key not in mine)


def _numbered(
    snapshot: Snapshot, restless: Collection[int], labelled: Collection[int]
) -> Iterator[tuple[tuple[int, str, int], SvgShape]]:
    """Each by its drawing, its tag, and which of its tag in the drawing it is; no lines of those
    that are `labelled`."""
    counts: Counter[tuple[int, str]] = Counter()
    for shape in snapshot.shapes:
        is_left_out = shape.drawing in labelled and _is_line(_paint(snapshot, shape))
        if shape.drawing not in restless and not is_left_out:
            yield (shape.drawing, shape.tag, counts[shape.drawing, shape.tag]), shape
            counts[shape.drawing, shape.tag] += 1


def _holding(snapshot: Snapshot, labels: Sequence[Rect]) -> set[int]:
    """Drawings whose shapes lie around any of these."""
    extents: dict[int, list[Rect]] = defaultdict(list)
    for shape in snapshot.shapes:
        extents[shape.drawing].append(shape.rect)
    return {
        drawing
        for drawing, rects in extents.items()
        if any(
            min(r.x for r in rects) - _AROUND <= label.x
            and label.x <= max(r.x + r.width for r in rects) + _AROUND
            and min(r.y for r in rects) - _AROUND <= label.y
            and label.y <= max(r.y + r.height for r in rects) + _AROUND
            for label in labels
        )
    }


def _is_line(paint: str) -> bool:
    """Whether nothing is filled: `OPACITY line WIDTH COLOUR`."""
    return paint.split(" ")[1:2] == ["line"]


def _paint(snapshot: Snapshot, shape: SvgShape) -> str:
    known = 0 <= shape.look < len(snapshot.looks)
    return " ".join(snapshot.looks[shape.look].replace("|", " ").split()) if known else ""


def _words(place: Sequence[int]) -> str:
    return " ".join(map(str, place))


def _is_placed_alike(was: SvgShape, now: SvgShape) -> bool:
    bounds, part = _BESIDE_LETTERS if was.by_letters or now.by_letters else _WITHOUT_LETTERS
    return len(was.place) == len(now.place) and all(
        abs(a - b) <= max(bound, abs(a) / part)
        for a, b, bound in zip(was.place, now.place, bounds, strict=False)
    )

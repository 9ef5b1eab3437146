"""Compares what pictures show, as two browsers have decoded them, and the shapes of drawings.

Both browsers decode the same pixels of the same bytes, and compute the same paint of the same
shape, where what they draw of either differs by how edges are smoothed.  Standard library only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from pinakes.qa.snapshot import Rect, Shape, Snapshot

_CELLS = re.compile("(~?)([0-9]{1,4})x([0-9]{1,4}):([0-9a-f]*)")
_COLOURS = 3
_BROKEN = "broken"
"""What a background shows that could not be loaded."""

_APART = 3
"""Of 255: how far a colour of a cell is from another's.  Decoded alike they are 1 apart at most."""

_DRAWN_APART = 3
"""Of 15: of what a browser draws itself, letters in a canvas, drawings in SVG."""

_AROUND = 100
"""Pixels; labels lie beside what they are of."""

_NEAR = (6, 6, 3, 3)
"""Pixels of a drawing, of its place: what scripts put beside letters is a little elsewhere."""


def show_alike(one: str, other: str) -> bool:
    """Whether two pictures show the same, by their cells: `COLUMNSxROWS:HEX`, two digits a
    colour.

    Behind `~`, with one digit, cells are drawn by the browser itself, not decoded: then one may
    have any colour between those of the cells around it, since letters are a little elsewhere.

    A background that could not be loaded is `broken`.  True if either is not such a text, or if
    their sizes differ: sizes are compared elsewhere.
    """
    if one == other or not one or not other:
        return True
    if _BROKEN in (one, other):
        return False
    found = _CELLS.fullmatch(one), _CELLS.fullmatch(other)
    if found[0] is None or found[1] is None or found[0].groups()[:3] != found[1].groups()[:3]:
        return True
    columns, rows = int(found[0][2]), int(found[0][3])
    digits = 1 if found[0][1] else 2
    mine, theirs = (
        [int(cells[4][at : at + digits], 16) for at in range(0, len(cells[4]), digits)]
        for cells in found
        if cells
    )
    if not len(mine) == len(theirs) == _COLOURS * columns * rows:
        return True
    if not found[0][1]:
        return all(abs(a - b) < _APART for a, b in zip(mine, theirs, strict=True))
    return not any(_strange(mine, theirs, columns, rows)) and not any(
        _strange(theirs, mine, columns, rows)
    )


def _strange(mine: Sequence[int], theirs: Sequence[int], columns: int, rows: int) -> Iterator[bool]:
    """Colours of cells that none of the cells around it in the other has, nor a mix of them."""
    for at, colour in enumerate(mine):
        if abs(colour - theirs[at]) < _DRAWN_APART:
            continue
        cell, band = divmod(at, _COLOURS)
        y, x = divmod(cell, columns)
        near = [
            theirs[_COLOURS * (row * columns + column) + band]
            for row in range(max(0, y - 1), min(rows, y + 2))
            for column in range(max(0, x - 1), min(columns, x + 2))
        ]
        yield not min(near) - _DRAWN_APART < colour < max(near) + _DRAWN_APART


def other_shapes(
    first: Snapshot,
    second: Snapshot,
    *,
    again: Snapshot | None = None,
    labels: Sequence[Rect] = (),
) -> Iterator[tuple[Shape, str]]:
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
    # Where a list is cut short, who knows what is behind its end.
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
        elif not _is_near(shape.place, now.place):
            yield now, f"is at {_words(now.place)}, and was at {_words(shape.place)}"
    if is_whole:
        yield from ((shape, "is new") for key, shape in theirs.items() if key not in mine)


def _numbered(
    snapshot: Snapshot, restless: Collection[int], labelled: Collection[int]
) -> Iterator[tuple[tuple[int, str, int], Shape]]:
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


def _paint(snapshot: Snapshot, shape: Shape) -> str:
    known = 0 <= shape.look < len(snapshot.looks)
    return " ".join(snapshot.looks[shape.look].replace("|", " ").split()) if known else ""


def _words(place: Sequence[int]) -> str:
    return " ".join(map(str, place))


def _is_near(was: Sequence[int], now: Sequence[int]) -> bool:
    return len(was) == len(now) and all(
        abs(a - b) <= max(near, abs(a) / 50) for a, b, near in zip(was, now, _NEAR, strict=False)
    )

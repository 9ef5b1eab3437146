"""Labels of charts and drawings, of which scripts show those for which letters leave room.

So a label that is in one browser alone is no fault, unless another word stands in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from .drawn_elements import ASPECTS, DrawnElement

Series = tuple[str, ...]
"""What labels of one axis or chart have in common: their tag, and how they are drawn."""

_OF_PLACE = frozenset({"transform", "margin", "width"})
_FEW = 2
_NEAR = 3
"""CSS pixels across between the middles or edges of labels that stand in one place."""


def series_of(one: DrawnElement) -> Series | None:
    """The series of a label: of a text in a drawing, or one absolutely placed; else None."""
    is_label = one.box.kind == "text" and (
        not one.of("display") or one.of("position").startswith("absolute")
    )
    names = (name for name in ASPECTS if name not in _OF_PLACE)
    return (one.box.tag, *map(one.of, names)) if is_label else None


def chosen_labels(
    pairs: Sequence[tuple[DrawnElement, DrawnElement]], left: Sequence[DrawnElement]
) -> set[Series]:
    """Series of labels of which some are the same in both browsers, and others in one alone.

    Scripts leave out what would lie upon another, by the width of letters.
    """
    kept = Counter(series_of(one) for one, two in pairs if one.box.text == two.box.text)
    others = Counter(map(series_of, left))
    others.update(series_of(one) for one, two in pairs if one.box.text != two.box.text)
    return {
        series
        for series, count in others.items()
        if series is not None and kept[series] >= _FEW and count <= 2 * kept[series]
    }


def replaced_labels(
    mine: Iterable[DrawnElement],
    theirs: Iterable[DrawnElement],
    lost: Sequence[DrawnElement],
    added: Sequence[DrawnElement],
    chosen: Collection[Series],
) -> Iterator[tuple[DrawnElement, DrawnElement]]:
    """Labels that are lost of the chosen series, with what stands in their place.

    Each must have a word that is in no label of its series in the other page: lines are broken
    otherwise by letters, and words cut short.
    """
    before, after = _words_of(mine, chosen), _words_of(theirs, chosen)
    for one in lost:
        series = series_of(one)
        if series is None or series not in chosen:
            continue
        gone = _letters(one, after[series])
        for other in added:
            if series_of(other) != series or not _is_in_place(one, other):
                continue
            new = _letters(other, before[series])
            if gone and new and not any(_is_cut(a, b) for a in gone for b in new):
                yield one, other


def _words_of(
    side: Iterable[DrawnElement], chosen: Collection[Series]
) -> Mapping[Series, set[str]]:
    found: dict[Series, set[str]] = {series: set() for series in chosen}
    for one in side:
        series = series_of(one)
        if series in found:
            found[series].update(one.box.text.split())
    return found


def _letters(label: DrawnElement, known: Collection[str]) -> list[str]:
    words = label.box.text.split()
    return [word for word in words if word not in known and any(map(str.isalpha, word))]


def _is_cut(one: str, other: str) -> bool:
    short, long = sorted((one.rstrip(".…-"), other.rstrip(".…-")), key=len)
    return long.startswith(short) or long.endswith(short)


def _is_in_place(one: DrawnElement, other: DrawnElement) -> bool:
    was, now = one.box.rect, other.box.rect
    across = (
        now.x - was.x,
        now.x + now.width - was.x - was.width,
        now.x - was.x + (now.width - was.width) / 2,
    )
    common = min(was.y + was.height, now.y + now.height) - max(was.y, now.y)
    return min(map(abs, across)) <= _NEAR and 2 * common > min(was.height, now.height)

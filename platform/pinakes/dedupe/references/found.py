"""What a resolution keeps of each record, and which full records revisits name.  Pure.

Both are joined by what a revisit may name its original by:

    at       the target URI and second that it refers to
    digest   its own target URI and its digest, where it refers to no URI
    id       a record id, where it refers to no URI
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.index.external_sort import SortSpace, sort_outside_memory

from .outcomes import CHECKED, DAMAGED, Full, Revisit
from .stream import Entry, uri_of

_ENTRY_BYTES = 900


class Stretch(NamedTuple):
    """The bytes of a record, or of the members that it shares: `[start, end)` of a file."""

    file: int = 0
    """0: none that was added."""
    start: int = 0
    end: int = 0
    """0: nobody asks where in the file the record is."""


class Found(NamedTuple):
    """An entry in the order of URIs and, of each, in that of `judge_references`."""

    uri: str
    second: str
    rank: int
    stretch: Stretch
    entry: Entry


class _Name(NamedTuple):
    """One way to name a full record: with its stretch, or `_WANTED` where a revisit does so."""

    name: tuple[str, ...]
    stretch: Stretch


_WANTED = Stretch(-1)
"""Sorts before the stretches of all files."""


def found_bytes(found: Found) -> int:
    """The approximate memory of what was found."""
    return _ENTRY_BYTES + len(found.uri)


def with_damage(found: Iterable[Found], damaged: Container[Stretch]) -> Iterator[Found]:
    """The same, where the full records of these stretches are known to be damaged by now."""
    for one in found:
        if isinstance(one.entry, Full) and one.stretch in damaged:
            yield one._replace(entry=one.entry._replace(proof=DAMAGED))
        else:
            yield one


def names_of(found: Found) -> list[tuple[str, ...]]:
    """What a revisit of `CHECKED` names its original by, or a full record may be named by."""
    one = found.entry
    parts: tuple[tuple[str | None, ...], ...]
    if isinstance(one, Full):
        parts = (("at", found.uri, one.second), ("digest", found.uri, one.declared), ("id", one.id))
    elif not isinstance(one, Revisit) or one.kind != CHECKED:
        return []
    elif one.uri is not None:
        parts = (("at", one.uri, one.second),)
    else:
        parts = (("digest", uri_of(one) or "", one.declared), ("id", one.id))
    return [tuple(filter(None, name)) for name in parts if None not in name]


def iter_named(
    found: Iterable[Found], kinds: Container[str], *, space: SortSpace
) -> Iterator[Stretch]:
    """Yield the stretches of full records that revisits of `CHECKED` name, in order, each once.

    `kinds` are the first parts of all names that revisits have.  Left out is what is known to be
    damaged, and what has no stretch.  Memory: `space`, twice.
    """
    names = (name for one in found for name in _names(one, kinds))
    named = (
        each.stretch
        for _, those in groupby(sort_outside_memory(names, space=space), key=itemgetter(0))
        if next(those).stretch == _WANTED
        for each in those
        if each.stretch != _WANTED
    )
    for stretch, _ in groupby(sort_outside_memory(named, space=space)):
        yield stretch


def _names(found: Found, kinds: Container[str]) -> Iterator[_Name]:
    stretch = found.stretch
    if not isinstance(found.entry, Full):
        stretch = _WANTED
    elif not stretch.end or found.entry.proof == DAMAGED:
        return
    for name in names_of(found):
        if name[0] in kinds:
            yield _Name(name, stretch)

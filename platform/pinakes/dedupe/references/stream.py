"""References and full records, joined by URI and by what a revisit may name its original by.  Pure.

    at       the target URI and second that it refers to
    digest   its own target URI and its digest, where it refers to no URI
    id       a record id, where it refers to no URI

The references to one URI are judged as full records and revisits pass by in order: first the
record ids that are asked for, then, by second, full records before revisits.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeGuard

from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory

from .outcomes import (
    CHECKED,
    DAMAGED,
    Full,
    Revisit,
    algorithm_of,
    cannot_tell,
    judge_at,
    judge_others,
    judge_unplaced,
)

Entry = Full | Revisit | str
"""A full record, a revisit, or a record id that one asks for."""
_Standing = tuple[int, str]
"""`stays` and `proof` of a full record."""

_ENTRY_BYTES = 900


def uri_of(revisit: Revisit) -> str | None:
    """The URI among whose full records the original is looked for; None: there is none."""
    return revisit.own_uri if revisit.uri is None else revisit.uri


def entries_of(revisit: Revisit) -> list[Entry]:
    """The revisit, and the id by which an earlier record of its own URI may be meant."""
    if revisit.id is None or revisit.uri is not None:
        return [revisit]
    return [revisit.id, revisit]


def place_of(entry: Entry) -> tuple[str, int]:
    """What entries of a URI are sorted by."""
    if isinstance(entry, str):
        return "", -1
    if isinstance(entry, Full):
        return entry.second or "", 0
    return (entry.own_second if entry.uri is None else entry.second) or "", 1


def has_place(entry: Entry) -> TypeGuard[Full | Revisit]:
    """Whether it is at a URI and second, or refers to one."""
    return not isinstance(entry, str) and entry.second is not None


def judge_references(entries: Iterable[Entry]) -> Iterator[tuple[Revisit, str]]:
    """Each revisit with its outcome.

    Memory: the different digests of the URI, the different full records of one of its
    seconds, the ids; revisits that wait for the end are spilled.
    """
    seen = _Seen()
    here: dict[Full, None] = {}
    second: str | None = None
    with Spool[tuple[Revisit, list[Full]]]() as waiting:
        for entry in entries:
            if isinstance(entry, str):
                seen.want(entry)
            elif isinstance(entry, Full):
                if entry.second is None:
                    continue  # nothing refers to what has no date
                if entry.second != second:
                    here.clear()
                second = entry.second
                here[entry] = None
                seen.add(entry)
            elif entry.uri is None:
                yield entry, judge_unplaced(entry, seen.by_revisit(entry))
            else:
                is_here = entry.second is not None and entry.second == second
                found = list(here) if is_here else []
                outcome = judge_at(entry, found)
                if outcome is None:
                    unknown = (full for full in found if cannot_tell(full, entry))
                    waiting.append((entry, list({full.stays: full for full in unknown}.values())))
                else:
                    yield entry, outcome
        for revisit, found in waiting:
            yield revisit, judge_others(revisit, found, seen.by_digest(revisit.declared))


class _Seen:
    """The full records so far, as few as give the same verdicts."""

    def __init__(self) -> None:
        self._by_id: dict[str, set[_Standing]] = {}
        self._by_digest: dict[str | None, set[_Standing]] = {}
        self._by_algorithm: dict[str, set[_Standing]] = {}

    def want(self, record_id: str) -> None:
        self._by_id[record_id] = set()

    def add(self, full: Full) -> None:
        standing = full.stays, full.proof
        self._by_digest.setdefault(full.declared, set()).add(standing)
        if full.declared is not None:
            algorithm = algorithm_of(full.declared)
            self._by_algorithm.setdefault(algorithm, set()).add(standing)
        if full.id is not None and full.id in self._by_id:
            self._by_id[full.id].add(standing)

    def by_digest(self, declared: str | None) -> list[Full]:
        """Those of this digest, of none, and of others: one for each algorithm."""
        found = [
            _standing_for(digest, None, each)
            for digest in {declared, None}
            for each in self._by_digest.get(digest, ())
        ]
        for algorithm, all_of_it in self._by_algorithm.items():
            found += [_standing_for(f"{algorithm}:", None, each) for each in all_of_it]
        return found

    def by_revisit(self, revisit: Revisit) -> list[Full]:
        """Those that a revisit that names no URI may mean."""
        found = self.by_digest(revisit.declared)
        if revisit.id is not None:
            with_id = self._by_id.get(revisit.id, ())
            found += [_standing_for(None, revisit.id, each) for each in with_id]
        return found


def _standing_for(declared: str | None, record_id: str | None, standing: _Standing) -> Full:
    stays, proof = standing
    return Full(
        id=record_id,
        second=None,
        declared=declared,
        written=None,
        body=None,
        stays=stays,
        proof=proof,
    )


class RecordStretch(NamedTuple):
    """The bytes of a record, or of the members that it shares: `[start, end)` of a file."""

    file: int = 0
    """0: none that was added."""
    start: int = 0
    end: int = 0
    """0: where in the file the record is does not matter."""


NOWHERE = RecordStretch()


class OrderedEntry(NamedTuple):
    """An entry in the order of URIs and, of each, in that of `judge_references`."""

    uri: str
    second: str
    rank: int
    stretch: RecordStretch
    entry: Entry


class _Name(NamedTuple):
    """One way to name a full record: with its stretch, or `_WANTED` where a revisit does so."""

    name: tuple[str, ...]
    stretch: RecordStretch


_WANTED = RecordStretch(-1)
"""Sorts before the stretches of all files."""


def found_bytes(found: OrderedEntry) -> int:
    """The approximate memory of what was found."""
    return _ENTRY_BYTES + len(found.uri)


def with_damage(
    found: Iterable[OrderedEntry], damaged: Container[RecordStretch]
) -> Iterator[OrderedEntry]:
    """The same, where the full records of these stretches are known to be damaged by now."""
    for one in found:
        if isinstance(one.entry, Full) and one.stretch in damaged:
            yield one._replace(entry=one.entry._replace(proof=DAMAGED))
        else:
            yield one


def names_of(found: OrderedEntry) -> list[tuple[str, ...]]:
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
    found: Iterable[OrderedEntry], kinds: Container[str], *, space: SortSpace
) -> Iterator[RecordStretch]:
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


def _names(found: OrderedEntry, kinds: Container[str]) -> Iterator[_Name]:
    stretch = found.stretch
    if not isinstance(found.entry, Full):
        stretch = _WANTED
    elif not stretch.end or found.entry.proof == DAMAGED:
        return
    for name in names_of(found):
        if name[0] in kinds:
            yield _Name(name, stretch)

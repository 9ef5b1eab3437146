"""Which references resolve: full records and references to them, joined by sorting.

Memory is bounded, for any size of the collection.  A reference that
we wrote resolves to one full record: that of its target URI and second, with its
record id, its digest as written, and the body that the replaced record had.  Of one
that others wrote only the header is known: it resolves to a full record of that URI
and second with that digest, or else, as replay tools do, to any of that URI with it;
an old one without URI and date to an earlier one of its own URI, by id or digest; else to the one
of any URI with its id, or one whose bytes were found to have its digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import NamedTuple

from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.warc.record import Record

from .outcomes import (
    CHECKED,
    DAMAGED,
    UNLIKE,
    UNPROVEN,
    Full,
    Revisit,
    algorithm_of,
    judge_at,
    judge_by_id,
    may_be_elsewhere,
)
from .stream import (
    NOWHERE,
    OrderedEntry,
    RecordStretch,
    entries_of,
    found_bytes,
    has_place,
    iter_named,
    judge_references,
    names_of,
    place_of,
    uri_of,
    with_damage,
)
from .values import revisit_of, second_or_date

Places = dict[tuple[str, str], set[str]]
"""Algorithms of digests, by a URI and a second."""
_SPACE = SortSpace(memory_bytes=32 << 20)
_REFERENCE_BYTES = 500


class Reference(NamedTuple):
    """One revisit, where it stands, and what became of its reference."""

    file: str
    ordinal: int
    target_uri: str
    target_second: str
    outcome: str


def reference_of(revisit: Revisit, outcome: str) -> Reference:
    """What to report of a revisit."""
    uri = revisit.uri or revisit.own_uri or ""
    return Reference(revisit.file, revisit.ordinal, uri, revisit.second or "", outcome)


class UnprovenCounts(NamedTuple):
    """Numbers of revisits of ours, by file; and the files that may have their originals."""

    revisits: dict[str, set[int]]
    originals: list[str]


class Resolution:
    """Collects what is found, as `FoundReferences`, then reports on each reference; a context
    manager."""

    def __init__(self, *, space: SortSpace = _SPACE) -> None:
        """Memory: the names of files, the ids that revisits name without a URI, the damaged
        originals, and three times `space`."""
        self._space = space
        self._found: Spool[OrderedEntry] = Spool(space=space, item_bytes=found_bytes)
        self._named_by: set[str] = set()
        self._damaged: set[RecordStretch] = set()
        self._files: dict[str, int] = {}
        self._names = [""]
        self._ids: dict[str, list[Full]] = {}
        self._bodies: dict[str, str] = {}
        self._proofs: dict[tuple[str, int], bool] = {}

    def __enter__(self) -> Resolution:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free what it has on disk."""
        self._found.close()

    def add_file(self, name: str) -> int:
        number = self._files.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def add_full(self, uri: str | None, full: Full, stretch: RecordStretch = NOWHERE) -> None:
        if uri is not None:
            self._found.append(OrderedEntry(uri, *place_of(full), stretch, full))

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        revisit = revisit_of(record, kind, body, file=self._names[file])
        if revisit.uri is None and revisit.id is not None:
            self._ids[revisit.id] = []
        at = RecordStretch(file)
        for entry in entries_of(revisit):
            # Full records without a URI are not kept: a revisit without one finds none.
            one = OrderedEntry(uri_of(revisit) or "", *place_of(entry), at, entry)
            self._named_by.update(name[0] for name in names_of(one))
            self._found.append(one)

    def named_originals(self) -> Iterator[tuple[str, Iterator[RecordStretch]]]:
        """The files that hold full records which revisits of `CHECKED` name, and where in each;
        `add_damaged` takes from these.  Each stretch comes once, by offset.
        """
        named = iter_named(self._found, self._named_by, space=self._space)
        for number, stretches in groupby(named, key=attrgetter("file")):
            yield self._names[number], stretches

    def add_damaged(self, stretch: RecordStretch) -> None:
        """The full records of this stretch are damaged, even if they were said to be whole."""
        self._damaged.add(stretch)

    def outcomes(self) -> Iterator[Reference]:
        """Every reference with its outcome, by file and ordinal."""
        self._find_ids()
        judged = (
            reference_of(revisit, self._proven(revisit, self._judged_further(revisit, outcome)))
            for revisit, outcome in self._judged()
        )
        return sort_outside_memory(
            judged,
            key=lambda reference: (self._files[reference.file], reference.ordinal),
            space=self._space,
            item_bytes=lambda reference: _REFERENCE_BYTES + len(reference.target_uri),
        )

    def _judged(self) -> Iterator[tuple[Revisit, str]]:
        """Each revisit, judged by the records of the URI that it names, or else its own."""
        for _, found in groupby(self._sorted(), key=itemgetter(0)):
            yield from judge_references(one.entry for one in found)

    def _find_ids(self) -> None:
        """The records whose ids are asked for, of any URI."""
        for found in self._ids.values():
            found.clear()
        for one in with_damage(self._found, self._damaged) if self._ids else ():
            if isinstance(one.entry, Full) and one.entry.id in self._ids:
                self._ids[one.entry.id].append(one.entry)

    def _judged_further(self, revisit: Revisit, outcome: str) -> str:
        """The outcome, also by records of other URIs where none of its own is there."""
        if not may_be_elsewhere(revisit, outcome):
            return outcome
        found = self._ids.get(revisit.id, []) if revisit.id is not None else []
        if found:
            outcome = judge_by_id(revisit, found)
        earliest = self._bodies.get(revisit.declared or "")
        is_there = earliest is not None and earliest <= (revisit.own_second or "~")
        return "resolves" if is_there else outcome

    def wanted_bodies(self) -> dict[str, set[str]]:
        """The digests that revisits name, without URI, date or an id whose record is known to have
        it, and the files in which a record may have such a body.

        What a record declares, or its URI, finds it; `add_body` says what its bytes have.  Memory:
        those digests, and their revisits' URIs and ids.
        """
        self._find_ids()
        digests: set[str] = set()
        ids: set[str | None] = set()
        uris: set[str | None] = set()
        for revisit, outcome in self._judged():
            if (
                revisit.kind == CHECKED
                and revisit.declared is not None
                and may_be_elsewhere(revisit, outcome)
                and self._judged_further(revisit, outcome) not in {"resolves", "later"}
            ):
                digests.add(revisit.declared)
                uris.add(revisit.own_uri)
                ids.add(revisit.id)
        ids.discard(None)
        files = {
            one.stretch.file
            for one in (self._found if digests else ())
            if isinstance(one.entry, Full)
            and (one.entry.declared in digests or one.uri in uris or one.entry.id in ids)
        }
        return {self._names[number]: digests for number in sorted(files - {0})}

    def add_body(self, digest: str, date: str | None) -> None:
        """A full record of this date has a body of this digest: its bytes were read."""
        second = second_or_date(date)
        if second is not None:
            self._bodies[digest] = min(second, self._bodies.get(digest, second))

    def unproven(self) -> UnprovenCounts:
        """The revisits of ours of which the digests do not show whether their originals have their
        bodies.  `add_proof` says of each.  Memory: those, and what they refer to.
        """
        self._find_ids()
        revisits: dict[str, set[int]] = {}
        named = set()
        for revisit, outcome in self._judged():
            if self._judged_further(revisit, outcome) in UNPROVEN:
                revisits.setdefault(revisit.file, set()).add(revisit.ordinal)
                named.add((revisit.uri, revisit.second))
        files = {
            one.stretch.file
            for one in (self._found if named else ())
            if isinstance(one.entry, Full) and (one.uri, one.second) in named
        }
        return UnprovenCounts(revisits, [self._names[number] for number in sorted(files - {0})])

    def add_proof(self, file: str, ordinal: int, *, is_proven: bool) -> None:
        """Whether what a revisit of ours refers to has the body that it stands for."""
        self._proofs[file, ordinal] = is_proven

    def _proven(self, revisit: Revisit, outcome: str) -> str:
        if outcome not in UNPROVEN:
            return outcome
        is_proven = self._proofs.get((revisit.file, revisit.ordinal))
        if outcome == UNLIKE:
            return "resolves" if is_proven else DAMAGED
        return "other-body" if is_proven is False else "resolves"

    def edges(self) -> Iterator[tuple[str, str]]:
        """Which file refers to which: names as given to `add_file`, each pair once.

        Memory: the pairs.
        """
        pairs: set[tuple[int, int]] = set()
        for _, found in groupby(self._sorted(), key=itemgetter(0, 1)):
            originals: set[int] = set()
            for one in found:
                if not has_place(one.entry):
                    continue
                if isinstance(one.entry, Full):
                    originals.add(one.stretch.file)
                else:
                    pairs.update((one.stretch.file, other) for other in originals)
        for file, other in sorted(pairs):
            if 0 != other != file:
                yield self._names[file], self._names[other]

    def other_digests(self) -> dict[str, Places]:
        """The files with full records that `other-digest` was found of where they are named: which
        records, and the algorithms of the digests that were looked for.

        A digest says nothing of one of another algorithm: that, the body does.  Memory: those.
        """
        found: dict[int, Places] = {}
        for (uri, second), entries in groupby(self._sorted(), key=itemgetter(0, 1)):
            files: dict[Full, set[int]] = {}
            for one in entries:
                if isinstance(one.entry, Full):
                    files.setdefault(one.entry, set()).add(one.stretch.file)
                    continue
                if not isinstance(one.entry, Revisit) or one.entry.second is None:
                    continue
                if judge_at(one.entry, list(files)) in {"other-digest", DAMAGED}:
                    algorithm = algorithm_of(one.entry.declared or "")
                    for number in set().union(*files.values()) - {0} if algorithm else ():
                        places = found.setdefault(number, {})
                        places.setdefault((uri, second), set()).add(algorithm)
        return {self._names[number]: found[number] for number in sorted(found)}

    def _sorted(self) -> Iterator[OrderedEntry]:
        return sort_outside_memory(
            with_damage(self._found, self._damaged),
            key=itemgetter(0, 1, 2),
            space=self._space,
            item_bytes=found_bytes,
        )

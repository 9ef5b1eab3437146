"""Do the references of a set of archive files resolve within it; and in which order to copy.

Each full record is inflated and hashed: one whose bytes are not those that it declares is no
original.  `check_set` has those that a revisit names inflated once more, by zlib or zstd alone.
Files are read again where the digest of an original is of another algorithm than that of its
revisit, or not that of its stored body.  Then a revisit of ours is proven as `restore` does it, by
the length and the checksum that it carries.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path

from pinakes.archive_store.located import open_place
from pinakes.catalog.declared import body_digests, verified_over
from pinakes.dedupe.references.further_originals import add_indexed
from pinakes.dedupe.references.outcomes import (
    CHECKED,
    DAMAGED,
    HARMLESS,
    KEPT,
    LIKELY,
    OUTCOMES,
    UNLIKE,
    WHOLE,
    algorithm_of,
)
from pinakes.dedupe.references.resolution import Places, Reference, Resolution
from pinakes.dedupe.references.stream import RecordStretch
from pinakes.dedupe.references.values import FULL_TYPES, FoundReferences, digest_of, indexed_full
from pinakes.dedupe.validate.folders import archive_folder
from pinakes.errors import InputRefused, MalformedRecord, PinakesError, UnresolvedReference
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .reference_proof import is_inflating, prove_originals, prove_references

_RESOLVES = frozenset({"resolves"})


def add_set_records(
    references: FoundReferences,
    source: Source,
    number: int,
    *,
    all_must_resolve: bool,
    on_fault: Callable[[PinakesError], None] = lambda problem: None,
) -> None:
    """Collect full records and references of a file; of others' revisits, where asked for.

    `number` is given with what is found.  `on_fault` is called with damaged stretches, and with
    revisits that are not whole.
    """
    for record in iter_records(source, digests=("sha1",)):
        if not isinstance(record, Record):
            on_fault(MalformedRecord(record.reason, file=source.name, offset=record.offset))
            continue
        if record.type == "revisit":
            if record.damage:
                what = "the revisit is not whole: what it refers to may be wrong"
                on_fault(MalformedRecord(what, file=source.name, offset=record.offset))
            checked = all_must_resolve or is_ours(record.header)
            references.add_reference(number, record, CHECKED if checked else KEPT)
        else:
            _add_full(references, record, number)


def add_standing_records(references: FoundReferences, source: Source, number: int) -> None:
    """The full records of a file that stays as it is."""
    for record in iter_records(source, digests=("sha1",)):
        if isinstance(record, Record):
            _add_full(references, record, number)


def _add_full(references: FoundReferences, record: Record, number: int) -> None:
    if record.type not in FULL_TYPES:
        return
    uri, full = indexed_full(
        record.target_uri,
        record.date_text,
        record.header.payload_digest or (None if record.damage else digest_of(record)),
        record.record_id,
        proof=_proof_of(record),
    )
    references.add_full(
        uri, full, RecordStretch(number, record.offset, record.offset + record.length)
    )


def _proof_of(record: Record) -> str:
    """Whether all bytes of a full record are there, and are those of the digests that it declares,
    by the one reading of it."""
    if record.damage:
        return DAMAGED
    over = verified_over(record, record.payload_hash("sha1"))
    if over == "none":
        return UNLIKE
    return WHOLE if over in (None, "stored") else LIKELY


def _add_bodies(resolution: Resolution, source: Source, places: Places) -> None:
    """Add the whole records of a file that are at these places by further digests: those of the
    body, of algorithms in which they declare none."""
    algorithms = sorted(set().union(*places.values()))
    is_whole = _whole_in(source)
    for record in iter_records(source, digests=algorithms, types=FULL_TYPES):
        if not isinstance(record, Record) or record.damage:
            continue
        uri, full = indexed_full(record.target_uri, record.date_text, record.header.payload_digest)
        asked = places.get((uri or "", full.second or ""), ())
        for algorithm in sorted(asked) if asked and is_whole(record) else ():
            if full.declared is not None and algorithm_of(full.declared) == algorithm:
                continue
            stored, dechunked = (
                record.payload_digest(algorithm),
                record.dechunked_digest(algorithm),
            )
            for digest, proof in ((stored, WHOLE), (dechunked, LIKELY)):
                if digest is not None:
                    further = indexed_full(uri, record.date_text, str(digest), proof=proof)
                    resolution.add_full(*further)


def _find_bodies(resolution: Resolution, source: Source, digests: set[str]) -> None:
    """Note which of these digests bodies of whole records of this file have."""
    algorithms = sorted({algorithm_of(digest) for digest in digests})
    is_whole = _whole_in(source)
    for record in iter_records(source, digests=algorithms, types=FULL_TYPES):
        if not isinstance(record, Record) or record.damage:
            continue
        found = digests.intersection(body_digests(record, algorithms))
        for digest in found if found and is_whole(record) else ():
            resolution.add_body(digest, record.date_text)


def _whole_in(source: Source) -> Callable[[Record], bool]:
    """Says of records of a file whether they inflate whole; once of those that share a member,
    which come one after the other."""
    inflating = lru_cache(maxsize=1)(partial(is_inflating, source))
    return lambda record: inflating(record.offset, record.offset + record.length)


def unresolved(resolution: Resolution) -> Iterator[Reference]:
    """The references that do not resolve."""
    for reference in resolution.outcomes():
        if reference.outcome not in _RESOLVES:
            yield reference


def check_set(
    places: Iterable[str],
    *,
    further: Iterable[str] = (),
    index: Path | None = None,
    advance: Callable[[int], None] = lambda count: None,
    on_refused: Callable[[PinakesError], None],
) -> Iterator[Reference]:
    """Every reference of the files at these places, paths or URLs, with its outcome.

    A file is read twice if a revisit has a digest of another algorithm than its original there, or
    names nothing but a digest that a record of another URI there may have; and so is one with a
    revisit of ours whose original there is not known to have its body.

    The files of `further`, and `index`, have full records that they may refer to.  `on_refused`
    is called for a file that cannot be read, or not to its end, and for what is damaged in one of
    `places` and is not a full record.
    """
    refused: set[str] = set()

    def read(place: str, take: Callable[[Source], None]) -> None:
        try:
            with open_place(place) as source:
                take(source)
        except InputRefused as refusal:
            if place not in refused:
                on_refused(refusal)
            refused.add(place)

    def check(source: Source, number: int) -> None:
        add_set_records(resolution, source, number, all_must_resolve=True, on_fault=on_refused)
        advance(source.size)

    with Resolution() as resolution:
        for place in places:
            read(place, partial(check, number=resolution.add_file(place)))
        for place in further:
            number = resolution.add_file(place)
            read(place, partial(add_standing_records, resolution, number=number))
        if index is not None:
            add_indexed(index, resolution)
        prove_originals(resolution, read)
        for place, named in resolution.other_digests().items():
            read(place, partial(_add_bodies, resolution, places=named))
        for place, digests in resolution.wanted_bodies().items():
            read(place, partial(_find_bodies, resolution, digests=digests))
        prove_references(resolution, read)
        yield from resolution.outcomes()


def examine_copy(
    source: Path, names: list[str], target: Path, replaced: Iterable[str]
) -> list[str]:
    """The files of `source` in an order in which originals come before what refers to them.

    Files may refer to one another in a circle; then whichever refers to the fewest goes
    first.  What is not in `source` is looked for in the files of `target` that are not
    `replaced`.

    Raises:
        UnresolvedReference: where a reference of ours leads nowhere.
    """

    def read(folder: Path, name: str, take: Callable[[Source, int], None]) -> None:
        number = resolution.add_file(name)
        with open_source(folder / name) as opened:
            take(opened, number)

    with Resolution() as resolution:
        copied = partial(add_set_records, resolution, all_must_resolve=False)
        standing = partial(add_standing_records, resolution)
        for name in names:
            read(source, name, copied)
        outside = led_outside(unresolved(resolution))
        if outside:
            gone = {*replaced, *names}
            for name in archive_folder(target).archives.values():
                if name not in gone:
                    read(target, name, standing)
        refuse_dangling(unresolved(resolution), outside)
        return originals_first(names, resolution.edges())


def led_outside(references: Iterable[Reference]) -> set[tuple[str, int]]:
    """The file and number of each of these revisits whose original is in no file of the set."""
    return {(one.file, one.ordinal) for one in references if one.outcome == "dangling"}


def refuse_dangling(references: Iterable[Reference], outside: Container[tuple[str, int]]) -> None:
    """Raise UnresolvedReference at the first of these that was not missing before.

    Digests do not distinguish rotten bytes from those whose writer hashed something else: within
    the set `damaged` is left to the receipt, which has the SHA-256 of each file that was proven.
    The originals of those that lead `outside` are in no receipt.
    """
    for reference in references:
        permitted = HARMLESS
        if (reference.file, reference.ordinal) not in outside:
            permitted = permitted | {DAMAGED}
        if reference.outcome not in permitted:
            raise UnresolvedReference(
                f"record {reference.ordinal}: {OUTCOMES[reference.outcome]} "
                f"({reference.target_uri}); nothing was changed",
                file=reference.file,
            )


def originals_first(names: list[str], edges: Iterable[tuple[str, str]]) -> list[str]:
    """The names so that a file comes after those it refers to, by `edges`: see `examine_copy`."""
    waits_for: dict[str, set[str]] = {name: set() for name in names}
    awaited_by: dict[str, set[str]] = defaultdict(set)
    for name, other in edges:
        if name in waits_for and other in waits_for:
            waits_for[name].add(other)
            awaited_by[other].add(name)
    heap = [(len(others), name) for name, others in waits_for.items()]
    heapq.heapify(heap)
    order = []
    while heap:
        count, name = heapq.heappop(heap)
        if name not in waits_for or count != len(waits_for[name]):
            continue
        del waits_for[name]
        order.append(name)
        for waiting in awaited_by[name] & waits_for.keys():
            waits_for[waiting].discard(name)
            heapq.heappush(heap, (len(waits_for[waiting]), waiting))
    return order

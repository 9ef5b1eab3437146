"""`restore`: revisits become full records again.

One of ours comes back byte for byte: its checksum proves it.  A crawler's, where that is asked for,
gets the body that it refers to, if that has the digest that the revisit declares; its own header
lines are kept in a field (`warc.changed_revisit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pinakes.catalog.declared import has_declared_digest
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import (
    FullRecordPlace,
    Originals,
    Wanted,
    named_by,
    wanted_by,
)
from pinakes.dedupe.validate.stretches import cut_apart, pieces_of
from pinakes.errors import (
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
    UnresolvedReference,
    at_place,
)
from pinakes.index.not_whole import iter_naming
from pinakes.rewrite.replace import Replacement, bytes_behind, replacement_of
from pinakes.warc.changed_revisit import (
    CHANGED_FIELD,
    OldRevisit,
    filled_revisit,
    revisit_of_ours,
)
from pinakes.warc.digest import parse_digest
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.rebuilding import full_record_pieces, gives_back
from pinakes.warc.record import NOT_WHOLE, Record
from pinakes.warc.replaced_field import REPLACED_FIELD
from pinakes.warc.revisit import Unwritable, is_ours
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .proofs import require_provable

_UNPROVEN = (UnresolvedReference, DigestMismatch, MalformedRecord)
Pieces = Iterable[bytes | memoryview]
_FULL = ("response", "resource")
_REPLACED = f"\n{REPLACED_FIELD}:".encode()
_CHANGED = f"\n{CHANGED_FIELD}:".encode()
ACT = "restore"
"""In the field of a crawler's revisit that was made full: always this, so that the same files give
the same bytes."""


@dataclass(slots=True)
class RestoreCount:
    """What became of the revisits of a file.

    `foreign` are those of `restored` that crawlers wrote, `changed` those of ours that were changed
    like a crawler's.  `ordinals` are those of all records that were restored.
    """

    restored: int = 0
    foreign: int = 0
    changed: int = 0
    left: Counter[str] = field(default_factory=Counter)
    problems: list[PinakesError] = field(default_factory=list)
    ordinals: set[int] = field(default_factory=set)

    def note(self, revisit: Record, ours: OldRevisit | None) -> None:
        """Count a record that is restored."""
        self.restored += 1
        self.foreign += ours is None
        self.changed += ours is not None and ours.header != revisit.header.raw
        self.ordinals.add(revisit.ordinal)

    def add(self, other: RestoreCount) -> None:
        self.restored += other.restored
        self.foreign += other.foreign
        self.changed += other.changed
        self.left.update(other.left)
        self.problems += other.problems
        self.ordinals |= other.ordinals

    def leave(self, problem: PinakesError) -> None:
        """A revisit stays one."""
        self.left["not restored"] += 1
        self.problems.append(problem)


def want_originals(source: Source, originals: Originals, *, foreign: bool = False) -> None:
    """Note what the revisits of this file refer to (the first pass); `foreign`: those that
    crawlers wrote, too."""
    for record in iter_records(source, digests=()):
        if foreign and isinstance(record, Record) and record.type == "revisit":
            originals.want(*named_by(record.header))
        wanted = wanted_of(record)
        if wanted is not None:
            originals.want(wanted)


def wanted_of(record: Item) -> Wanted | None:
    """What a revisit of ours refers to; None of any other record."""
    if isinstance(record, Record) and record.type == "revisit" and is_ours(record.header):
        return wanted_by(record.header)
    return None


def restorations(
    source: Source,
    originals: Originals,
    files: ArchiveFiles,
    count: RestoreCount,
    only: Container[tuple[int, int]] | None = None,
    *,
    foreign: bool = False,
    on_damage: Callable[[MalformedRecord], object] = lambda problem: None,
) -> Iterator[Replacement]:
    """Yield each revisit of ours as the full record it was, in order of offset.

    A revisit written by others is left, unless `foreign`: what it replaced was never recorded.
    `only` names those to restore, by offset and inner offset.  `on_damage` gets what is damaged,
    which is copied as it is.
    """
    work = _Restorations(originals, files, foreign)
    shared = -1
    for record in _naming_damage(iter_records(source, digests=()), source.name, on_damage):
        if not isinstance(record, Record):
            count.left["unreadable"] += 1
            continue
        if record.type != "revisit" and not _was_filled(record):
            continue
        if only is not None and (record.offset, record.inner_offset) not in only:
            continue
        if not work.takes(record):
            count.left["written by others"] += 1
            continue
        try:
            require_provable(source, record.offset)
        except InputRefused as problem:
            count.leave(problem)
            continue
        if _is_shared(record):
            if record.offset != shared:
                shared = record.offset
                yield from work.restore_shared(source, record, count)
        else:
            pieces = work.restored(source.name, record, count)
            if pieces is not None:
                yield replacement_of(source, record, pieces, behind=bytes_behind(source, record))


def _naming_damage(
    items: Iterable[Item], file: str, on_damage: Callable[[MalformedRecord], object]
) -> Iterator[Item]:
    """The same; as `iter_naming`, and also what is cut off, and what is no record."""
    for item in iter_naming(items, file, on_damage):
        if isinstance(item, Record):
            found = [f"{what}: the record is copied as it is" for what in _why_damaged(item)]
        else:
            found = [f"{item.reason}: {item.end - item.offset} bytes are copied as they are"]
        for what in found:
            on_damage(MalformedRecord(what, file=file, offset=item.offset))
        yield item


def _why_damaged(record: Record) -> Iterator[str]:
    """What `iter_naming` does not name."""
    for finding in record.damage:
        if finding.code not in NOT_WHOLE:
            yield finding.message
    is_revisit = record.type == "revisit" or _was_filled(record)
    if not is_revisit and _REPLACED in record.header.raw and is_ours(record.header):
        yield f"it has the field {REPLACED_FIELD}, and is no revisit"


def _was_filled(record: Record) -> bool:
    """Whether an older version made it full like a crawler's revisit, and it was one of ours."""
    raw = record.header.raw
    return _CHANGED in raw and record.type in _FULL and is_ours(record.header)


def _is_shared(record: Record) -> bool:
    return {finding.code for finding in record.findings} == {"member"}


def restored_or_none(
    name: str, record: Record, originals: Originals, files: ArchiveFiles, count: RestoreCount
) -> Pieces | None:
    """The full record that a revisit of ours replaced, without the line ends that close it; None,
    and counted, where it cannot be restored."""
    return _Restorations(originals, files, foreign=False).restored(name, record, count)


class _Restorations:
    def __init__(self, originals: Originals, files: ArchiveFiles, foreign: bool) -> None:
        self._originals = originals
        self._files = files
        self._foreign = foreign

    def takes(self, record: Record) -> bool:
        if record.type != "revisit":
            return _was_filled(record)
        return self._foreign or is_ours(record.header)

    def restore_shared(
        self, source: Source, first: Record, count: RestoreCount
    ) -> Iterator[Replacement]:
        """A member into which its writer put several records: each in one of its own."""
        done = RestoreCount()

        def anew(record: Record) -> Pieces | None:
            pieces = self.restored(source.name, record, done) if self.takes(record) else None
            return chain(pieces, (RECORD_END,)) if pieces is not None else None

        try:
            result = cut_apart(source, first.offset, first.length, anew)
        except Unwritable:
            count.leave(
                MalformedRecord(
                    "the records of this member do not add up to its content: left as they are",
                    file=source.name,
                    offset=first.offset,
                )
            )
            return
        count.add(done)
        if done.restored:
            yield Replacement(first.offset, first.length, pieces_of(result))

    def restored(self, name: str, record: Record, count: RestoreCount) -> Pieces | None:
        """See `restored_or_none`."""
        try:
            if any(finding.code != "member" for finding in record.findings):
                raise MalformedRecord("the revisit is damaged")
            ours = revisit_of_ours(record)
            if ours is not None:
                try:
                    pieces = self._ours(record, ours)
                except _UNPROVEN as problem:
                    if not self._foreign or record.type != "revisit":
                        raise
                    # Named, and taken for a crawler's: its field may be forged.
                    problem.file, problem.offset, ours = name, record.offset, None
                    count.problems.append(problem)
            if ours is None and record.type != "revisit":
                raise MalformedRecord("it names no revisit that it was")
            if ours is None:
                pieces = self._by_crawler(record)
        except Unwritable as reason:
            why = UnresolvedReference(
                f"it cannot be made full ({reason.reason})", file=name, offset=record.offset
            )
            count.leave(why)
            return None
        except (*_UNPROVEN, InputRefused) as problem:
            problem.file, problem.offset = name, record.offset
            count.leave(problem)
            return None
        count.note(record, ours)
        return pieces

    def _ours(self, record: Record, ours: OldRevisit) -> Pieces:
        if record.type != "revisit":
            if gives_back(ours, record):
                return full_record_pieces(ours, record)
            raise MalformedRecord("it was a revisit of ours, and does not have its body")
        places = list(self._originals.places(record.header))
        for original in self._records(places):
            if gives_back(ours, original):
                return full_record_pieces(ours, original)
        raise DigestMismatch(
            f"the original found ({at_place(places[0].file, places[0].offset)}) has another body",
            kind="the original found has another body",
        )

    def _by_crawler(self, record: Record) -> Pieces:
        declared = record.header.payload_digest
        if parse_digest(declared or "") is None:
            raise UnresolvedReference(
                "the revisit declares no payload digest, so nothing proves what its body was"
            )
        is_there = False
        for original in self._records(self._originals.places_meant(record.header)):
            is_there = True
            if has_declared_digest(declared, original):
                pieces = filled_revisit(record, original, act=ACT)
                return chain((next(pieces),), pieces)
        if is_there:
            raise DigestMismatch(f"no record that it may mean has the digest {declared}")
        raise UnresolvedReference(
            f"no earlier record that it may mean, and none with the digest {declared}, is in any "
            "of the files: name their folder with --dir",
            kind="no earlier record that it may mean is in any of the files: name their folder "
            "with --dir",
        )

    def _records(self, places: Iterable[FullRecordPlace]) -> Iterator[Record]:
        """The records that are at these places."""
        for place in places:
            record = read_record(
                self._files.source(place.file),
                place.offset,
                inner_offset=place.inner_offset,
                digests=(),
            )
            if isinstance(record, Record) and place.record_id in (None, record.record_id):
                yield record

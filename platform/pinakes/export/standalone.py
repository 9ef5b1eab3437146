"""An archive file of a crawl with its revisits of other crawls as full records.

Revisits of ours become what they were, byte for byte, also those that landed as such; those that
crawlers wrote get the body that they refer to, and a field by which they are given back
(`warc.changed_revisit`).  What is written
is read again: all but these records is as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from heapq import merge
from operator import attrgetter

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import CaptureRow, placed_by
from pinakes.catalog.file_rows import FileEntry, read_entries
from pinakes.catalog.revisit_targets import SEVERAL_MEANT
from pinakes.dedupe.archive_files import ArchiveFiles, StoredFiles
from pinakes.dedupe.references.originals import FullRecordPlace, Originals, Wanted
from pinakes.dedupe.write.full_records import is_given_back
from pinakes.dedupe.write.replaced_records import ReplacedRecords
from pinakes.dedupe.write.restore import RestoreCount, restorations
from pinakes.deletion.landed_revisits import ChangedRevisits, RevisitChange
from pinakes.deletion.repointing import OriginalPlace
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.seconds import second_of
from pinakes.rewrite.replace import Replacement
from pinakes.row_store.port import RowStore
from pinakes.warc.changed_revisit import revisit_of_ours
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .dependencies import JudgedRevisit, judge_revisits, unresolved

ACT = "export-wacz"
"""In the field of a crawler's revisit that was made full: always this, so that the same crawl gives
the same bytes."""


class FilledFile:
    """What is replaced in one archive file."""

    def __init__(
        self,
        files: ArchiveFiles,
        ours: Originals,
        wanted: frozenset[tuple[int, int]],
        theirs: dict[tuple[int, int], RevisitChange],
        ordinals: dict[int, RevisitChange | None],
    ) -> None:
        """`wanted` are the places of ours, `ordinals` are those of all, None of ours."""
        self._files = files
        self._originals = ours
        self._wanted = wanted
        self._ordinals = ordinals
        changes = {at: change for at, change in ordinals.items() if change is not None}
        self._changed = ChangedRevisits(theirs, changes, files, act=ACT)
        self._count = RestoreCount()
        self._replaced = ReplacedRecords()

    def __bool__(self) -> bool:
        return bool(self._ordinals)

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The new records, in order of offset.

        Raises:
            UnresolvedReference, DigestMismatch: one cannot be written.
        """
        self._count = RestoreCount()
        ours = restorations(source, self._originals, self._files, self._count, self._wanted)
        both = merge(ours, self._changed.replacements(source.again()), key=attrgetter("offset"))
        return self._replaced.noted(both)

    def check(self, before: Source, after: Source) -> None:
        """Raise unless these are full, and all else is as it was."""
        for problem in self._count.problems:
            raise problem
        if self._count.restored != len(self._wanted):
            raise UnresolvedReference(
                "not all of its revisits are where its sidecar says: run fsck"
            )
        self._replaced.check(before, after, self._ordinals, self._fits)

    def _fits(self, old: Record, new: Record) -> bool:
        if (old.offset, old.inner_offset) not in self._wanted:
            return self._changed.fits(old, new)
        ours = revisit_of_ours(old)
        return ours is not None and is_given_back(ours, new)


@contextmanager
def filled_file(store: RowStore, archive: ArchiveReader, entry: FileEntry) -> Iterator[FilledFile]:
    """What is to be replaced in a file so that it needs no other crawl; false: nothing.

    Memory: its revisits of others.

    Raises:
        UnresolvedReference: a revisit refers to nothing that is in the store, or to what has no
            place there.
    """
    judged = []
    for one in judge_revisits(store, archive, entry):
        if not one.is_resolved:  # since the survey
            raise unresolved(entry, one.row)
        if not one.is_certain:
            raise UnresolvedReference(SEVERAL_MEANT, file=entry.stored_name, offset=one.row.offset)
        if one.body is not None:
            judged.append(one)
    names = {one.body.facts.archive_file for one in judged if one.body is not None}
    entries = read_entries(store, sorted(names))
    stored = {name: one.stored_name for name, one in entries.items()}
    with StoredFiles(archive, stored) as files:
        yield _filled(files, entries, judged)


def _filled(
    files: ArchiveFiles, entries: dict[str, FileEntry], judged: Iterable[JudgedRevisit]
) -> FilledFile:
    ours, wanted = Originals(), set()
    theirs: dict[tuple[int, int], RevisitChange] = {}
    ordinals: dict[int, RevisitChange | None] = {}
    for row, _, body, *_ in judged:
        if body is None:
            continue
        at = row.offset, row.inner_offset
        place = _place(body, entries[body.facts.archive_file])
        if not row.is_replaced:
            theirs[at] = ordinals[row.ordinal] = RevisitChange(
                place, body.facts.payload_sha256, None
            )
            continue
        ordinals[row.ordinal] = None
        wanted.add(at)
        second = second_of(row.refers_date or "")
        if row.refers_uri and second:
            name = Wanted(row.refers_uri, second)
            facts = body.facts
            ours.want(name)
            ours.note_place(name, FullRecordPlace(*place, facts.record_id, facts.payload_size))
    return FilledFile(files, ours, frozenset(wanted), theirs, ordinals)


def _place(body: CaptureRow, entry: FileEntry) -> OriginalPlace:
    placed = placed_by(body, entry) if entry.state is FileState.STORED else None
    if placed is None:
        raise UnresolvedReference(f"no place is known of {body.key!r}: run fsck")
    at = placed.location
    return OriginalPlace(entry.archive_file, at.offset, at.inner_offset)

"""Revisits that landed as such, whose originals go: full with the body of these, or re-pointed.

    replaced ─▶ checked: gives the old record back, has the body ─▶ current
             ─▶ rows as the record is now; those by what it referred to deleted

One of ours, which another store or a folder was deduplicated with, is proven by its checksum: it
becomes just what was captured, or a revisit that gives that back.  Of one by a crawler the step is
reversible (`warc.changed_revisit`).  Rows are written after it: until then they lead
to what the record was, as the survey needs if the process dies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import chain
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, Replacements
from pinakes.catalog.declared import may_stand_for
from pinakes.catalog.file_rows import release_claim
from pinakes.catalog.record_rows import sidecar_row
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.validate.stretches import cut_apart, pieces_of
from pinakes.dedupe.write.full_records import (
    is_given_back,
    other_body,
    repointed_revisit,
    stands_for_the_same,
)
from pinakes.dedupe.write.proofs import why_left
from pinakes.dedupe.write.replaced_records import ReplacedRecords, block_of
from pinakes.errors import DigestMismatch, MalformedRecord, UnresolvedReference, at_place
from pinakes.rewrite.file_parts import equal_streams
from pinakes.rewrite.replace import Replacement, bytes_behind, replacement_of
from pinakes.warc.changed_revisit import filled_revisit, old_revisit, repoint_revisit
from pinakes.warc.compression.members import compression_at
from pinakes.warc.reader import iter_records
from pinakes.warc.rebuilding import full_record_pieces, proven_ours
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable, original_of
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .changed_rows import put_changed_rows
from .repointing import OriginalPlace, read_at

Place = tuple[int, int]
Pieces = Iterable[bytes | memoryview]


class RevisitChange(NamedTuple):
    """The body that a revisit refers to, its SHA-256 as it landed, labelled, and its new original;
    None: it is made full."""

    body: OriginalPlace
    sha256: str | None
    original: OriginalPlace | None


class ChangedRevisits:
    """The changes of one file, by offset and inner offset of its revisits."""

    def __init__(
        self,
        changes: Mapping[Place, RevisitChange],
        ordinals: Mapping[int, RevisitChange],
        files: ArchiveFiles,
        *,
        act: str,
    ) -> None:
        self._changes = changes
        self._ordinals = ordinals
        self._files = files
        self._act = act
        self._replaced = ReplacedRecords()

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The new records, in order of offset.

        Raises:
            UnresolvedReference, DigestMismatch: one cannot be written.
        """
        return self._replaced.noted(self._replacements(source))

    def _replacements(self, source: Source) -> Iterator[Replacement]:
        shared = -1
        for record in iter_records(source, digests=()):
            if not isinstance(record, Record) or record.offset == shared:
                continue
            if (record.offset, record.inner_offset) not in self._changes:
                continue
            _require_writable(source, record)
            if {finding.code for finding in record.findings} == {"member"}:
                shared = record.offset
                yield self._of_shared_member(source, record)
            else:
                pieces = self._anew(source, record)
                yield replacement_of(source, record, pieces, behind=bytes_behind(source, record))

    def _of_shared_member(self, source: Source, first: Record) -> Replacement:
        def anew(record: Record) -> Pieces | None:
            if (record.offset, record.inner_offset) not in self._changes:
                return None
            return chain(self._anew(source, record), (RECORD_END,))

        try:
            parts = cut_apart(source, first.offset, first.length, anew)
        except Unwritable as reason:
            raise _unwritable(source, first, reason.reason) from None
        return Replacement(first.offset, first.length, pieces_of(parts))

    def _anew(self, source: Source, record: Record) -> Pieces:
        change = self._changes[record.offset, record.inner_offset]
        if any(finding.code != "member" for finding in record.findings):
            raise _unwritable(source, record, "damaged")
        body = self._read(change.body)
        # Nothing in the revisit says how long its body was, or what its checksum.
        if str(body.payload_digest("sha256")) != change.sha256:
            raise DigestMismatch(
                f"what this revisit refers to ({at_place(*change.body[:2])}) is not as it landed: "
                "see `pinakes fsck --full`",
                file=source.name,
                offset=record.offset,
                kind="what this revisit refers to is not as it landed",
            )
        original = None
        if change.original is not None:
            original = self._read(change.original)
            if not equal_streams(map(bytes, body.payload()), map(bytes, original.payload())):
                raise other_body(*change.original[:2], source.name, record.offset)
        ours = proven_ours(record, body)
        if ours is not None and original is None:
            return full_record_pieces(ours, body)
        if ours is None and not may_stand_for(record.header.payload_digest, body):
            raise _unwritable(source, record, "nothing proves that its digest is that of the body")
        try:
            if ours is not None and original is not None:
                return (repointed_revisit(ours, original, run=self._act),)
            if original is not None:
                reference = original_of(original.header, original.payload_digest)
                return (repoint_revisit(record, reference, act=self._act),)
            pieces = iter(filled_revisit(record, body, act=self._act))
            return chain((next(pieces),), pieces)
        except Unwritable as reason:
            raise _unwritable(source, record, reason.reason) from None

    def require_changeable(self, place: OriginalPlace) -> None:
        """Raise as `replacements` would of this revisit alone, without writing anything."""
        record = self._read(place)
        source = self._files.source(place.file)
        _require_writable(source, record)
        self._anew(source, record)

    def _read(self, place: OriginalPlace) -> Record:
        return read_at(self._files.source(place.file), place.offset, place.inner_offset)

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless only these changed, can be changed back, and resolve."""
        self._replaced.check(before, after, self._ordinals, self.fits)

    def fits(self, old: Record, new: Record) -> bool:
        """Whether one of these revisits became what it should be, and can be changed back."""
        change = self._ordinals[old.ordinal]
        body = self._read(change.body)
        ours = proven_ours(old, body)
        if ours is not None and change.original is None:
            return is_given_back(ours, new)
        try:
            if ours is None and old_revisit(old) != old_revisit(new):
                return False
            if ours is not None and not stands_for_the_same(ours, new):
                return False
        except (Unwritable, MalformedRecord):
            return False
        if change.original is not None:
            original = self._read(change.original)
            named = (original.target_uri, original.date_text)
            is_block = ours is not None or block_of(old) == block_of(new)
            return is_block and new.header.refers_to()[:2] == named
        return new.type == body.type and equal_streams(
            map(bytes, new.payload()), map(bytes, body.payload())
        )


def _require_writable(source: Source, record: Record) -> None:
    """Raise where a revisit cannot be written again as it is compressed."""
    compression = compression_at(source, record.offset)
    why = why_left(source, compression)
    end = record.offset + record.length
    if compression is not None and compression.passes_over_bytes(source, record.offset, end):
        why = why or "what is no record is in it"
    if why:
        raise _unwritable(source, record, why)


def _unwritable(source: Source, record: Record, why: str) -> UnresolvedReference:
    return UnresolvedReference(
        f"the crawler's revisit here cannot be changed ({why})",
        file=source.name,
        offset=record.offset,
    )


def change_revisits(
    collection: Collection,
    name: str,
    wanted: Mapping[bytes, RevisitChange],
    act: Act,
) -> None:
    """Change revisits that landed as such, by row key, in a new generation of their file.

    Raises:
        UnresolvedReference, DigestMismatch, MalformedRecord: one cannot be; the file is as it was.
        Conflict: another process works on it.
    """
    held = act.claim(name)
    own = {
        row.ordinal: (row, wanted[row.row_key])
        for row in collection.sidecar_rows(name)
        if row.row_key is not None and row.row_key in wanted
    }
    changes = {(row.offset, row.inner_offset): change for row, change in own.values()}
    ordinals = {ordinal: change for ordinal, (_, change) in own.items()}
    landed = datetime.fromtimestamp(act.time_ms / 1000, timezone.utc)

    def annotate(row: SidecarRow, record: Record) -> SidecarRow:
        if row.ordinal not in own:
            return row
        as_it_is = sidecar_row(record, archive_file=name, landed=landed)
        # As landed: what was posted, and what shares its member, is not known of it alone.
        return as_it_is._replace(row_key=row.row_key, method=row.method)

    def parts() -> tuple[Replacements, Check]:
        changing = ChangedRevisits(changes, ordinals, files, act=act.name)
        return changing.replacements, changing.check

    with collection.open_files() as files:
        act.rewrite(held, parts, annotate=annotate)
    collection.read_again(act.rows, name)
    put_changed_rows(act.rows, act.archive, held, collection.entries[name])
    act.at("changed rows")
    release_claim(act.rows, held)
    act.at("changed")

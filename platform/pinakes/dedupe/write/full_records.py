"""Full records and the revisits of ours that stand for them: whether one is the other's, new
revisits for the same record, and what is restored in one file, with its proof.

`pinakes.warc.rebuilding` makes the record again.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.catalog.declared import has_declared_digest
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.validate.stretches import whole_crc32
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, at_place
from pinakes.rewrite.replace import Replacement
from pinakes.warc.changed_revisit import OldRevisit, old_revisit, revisit_of_ours
from pinakes.warc.header import Header
from pinakes.warc.record import Record
from pinakes.warc.revisit import (
    build_revisit,
    original_of,
    replaced_crc32,
    restore_header,
)
from pinakes.warc.source import Source

from .proofs import require_given_back
from .replaced_records import ReplacedRecords
from .restore import RestoreCount, restorations


def is_given_back(ours: OldRevisit, record: Record) -> bool:
    """Whether this is the record that a revisit of ours replaced."""
    header = Header(ours.header)
    try:
        is_header = record.header.raw == restore_header(header)
    except MalformedRecord:
        return False
    return is_header and whole_crc32(record) == replaced_crc32(header)


def repointed_revisit(ours: OldRevisit, original: Record, *, run: str) -> bytes:
    """The header and block of a revisit of ours with a reference to this original.

    Raises:
        Unwritable: nothing can refer to that record.
    """
    header = Header(ours.header)
    return build_revisit(
        Header(restore_header(header)),
        ours.block,
        original_of(original.header, original.payload_digest),
        run=run,
        crc32=replaced_crc32(header),
    )


def stands_for_the_same(ours: OldRevisit, new: Record) -> bool:
    """Whether a record is a revisit of ours that gives back what this one does."""
    again = revisit_of_ours(new)
    if again is None or again.block != ours.block:
        return False
    old, now = Header(ours.header), Header(again.header)
    return (restore_header(old), replaced_crc32(old)) == (restore_header(now), replaced_crc32(now))


def other_body(file: str, offset: int, revisit_file: str, revisit_offset: int) -> DigestMismatch:
    """The error where the new original of a revisit has another body."""
    return DigestMismatch(
        f"the new original ({at_place(file, offset)}) has another body",
        file=revisit_file,
        offset=revisit_offset,
        kind="the new original has another body",
    )


class FullRecords:
    """The restorations of one file; `check` is asked of what was written."""

    def __init__(
        self,
        originals: Originals,
        files: ArchiveFiles,
        count: RestoreCount,
        *,
        foreign: bool = False,
    ) -> None:
        """`foreign`: those that crawlers wrote, too; `count` is filled on the way."""
        self._originals = originals
        self._files = files
        self._count = count
        self._foreign = foreign
        self._replaced = ReplacedRecords()

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The revisits as full records, in order of offset."""
        return self._replaced.noted(
            restorations(
                source,
                self._originals,
                self._files,
                self._count,
                foreign=self._foreign,
                on_damage=self._count.problems.append,
            )
        )

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless the new file gives the old one back, and the bodies of what
        crawlers wrote have the digests that they declare; InputRefused where it has revisits to
        restore, and not one could be: then it is not to be published."""
        if self._count.left["not restored"] and not self._count.restored:
            raise InputRefused(
                "not written: none of its revisits could be restored", file=before.name
            )
        if self._count.foreign or self._count.changed:
            self._replaced.check(before, after, self._count.ordinals, _fits)
        else:
            require_given_back(before, after)


def _fits(old: Record, new: Record) -> bool:
    ours = revisit_of_ours(old)
    if ours is not None and is_given_back(ours, new):
        return True
    return old_revisit(old) == old_revisit(new) and has_declared_digest(
        old.header.payload_digest, new
    )

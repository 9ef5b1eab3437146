"""What is restored in one file, and the proof of it before anybody may read the new file."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.catalog.declared import has_declared_digest
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.rewrite.replace import Replacement
from pinakes.warc.changed_revisit import old_revisit, revisit_of_ours
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .full_records import is_given_back
from .given_back import require_given_back
from .replaced_records import ReplacedRecords
from .restore import RestoreCount, restorations


class Restoring:
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
            restorations(source, self._originals, self._files, self._count, foreign=self._foreign)
        )

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless the new file gives the old one back, and the bodies of what
        crawlers wrote have the digests that they declare."""
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

"""Revisits of ours that refer to another original from now on: the same body, another place."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.write.full_records import (
    other_body,
    repointed_revisit,
    stands_for_the_same,
)
from pinakes.dedupe.write.replaced_records import ReplacedRecords
from pinakes.errors import UnresolvedReference
from pinakes.rewrite.replace import (
    Replacement,
    bytes_behind,
    replacement_of,
    require_rewritable,
)
from pinakes.warc.changed_revisit import revisit_of_ours
from pinakes.warc.reader import read_record
from pinakes.warc.rebuilding import proven_ours
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source


class OriginalPlace(NamedTuple):
    """Where an original is, in a file of the collection."""

    file: str
    offset: int
    inner_offset: int


class Repointing:
    """Revisits of one file that refer to other originals; see `repointings`."""

    def __init__(
        self,
        originals: Mapping[tuple[int, int], OriginalPlace],
        ordinals: Container[int],
        files: ArchiveFiles,
        *,
        run: str,
    ) -> None:
        """`ordinals` are those of the revisits."""
        self._originals = originals
        self._ordinals = ordinals
        self._files = files
        self._run = run
        self._replaced = ReplacedRecords()

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The new revisits, in order of offset."""
        return self._replaced.noted(
            repointings(source, self._originals, self._files, run=self._run)
        )

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless only these changed, and stand for the same records."""
        self._replaced.check(before, after, self._ordinals, _stand_for_the_same)


def _stand_for_the_same(old: Record, new: Record) -> bool:
    ours = revisit_of_ours(old)
    return ours is not None and stands_for_the_same(ours, new)


def repointings(
    source: Source,
    originals: Mapping[tuple[int, int], OriginalPlace],
    files: ArchiveFiles,
    *,
    run: str,
) -> Iterator[Replacement]:
    """Yield each revisit rewritten, with a reference to its new original, in order of offset.

    `originals` are by offset and inner offset of the revisits.  The new original is proven to
    give the full record back, by its checksum.

    Raises:
        DigestMismatch: it does not.
        UnresolvedReference: it cannot be referred to.
        InputRefused: it is in a compression that is not written.
    """
    for place in sorted(originals):
        require_rewritable(source, place[0])
        revisit = read_at(source, *place)
        original = originals[place]
        target = read_at(files.source(original.file), original.offset, original.inner_offset)
        ours = proven_ours(revisit, target)
        if ours is None:
            raise other_body(original.file, original.offset, source.name, revisit.offset)
        try:
            data = repointed_revisit(ours, target, run=run)
        except Unwritable as reason:
            raise UnresolvedReference(
                f"it cannot refer to another original ({reason.reason})",
                file=source.name,
                offset=revisit.offset,
            ) from None
        yield replacement_of(source, revisit, (data,), behind=bytes_behind(source, revisit))


def read_at(
    source: Source, offset: int, inner_offset: int, *, digests: tuple[str, ...] = ("sha1",)
) -> Record:
    """The record that begins at a place.  Raises UnresolvedReference: none does."""
    record = read_record(source, offset, inner_offset=inner_offset, digests=digests)
    if not isinstance(record, Record) or record.offset != offset:
        raise UnresolvedReference("no record begins here", file=source.name, offset=offset)
    return record

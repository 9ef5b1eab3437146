"""Tombstones for records of a file, and what is asked of the new file before anybody may read it.

A record that is alone in its member, or in none, is replaced as its bytes lie, whole or damaged;
a member that holds several is cut apart.
"""

from __future__ import annotations

import bz2
from collections.abc import Collection, Iterable, Iterator

from pinakes.dedupe.validate.shared_members import (
    RECORD_END,
    compress_member,
    cut_apart,
    pieces_of,
)
from pinakes.errors import MalformedRecord
from pinakes.rewrite.replace import Replacement
from pinakes.warc.members import compression_of
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source
from pinakes.warc.tombstone import Inscription, tombstone_of

from .replaced_records import ReplacedRecords, block_of, records_of


class Entombing:
    """Tombstones for records of one file, by ordinal."""

    def __init__(self, ordinals: Collection[int], inscription: Inscription) -> None:
        self.ordinals = ordinals
        self._inscription = inscription
        self._replaced = ReplacedRecords()

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The tombstones, in order of offset.

        Raises:
            MalformedRecord: a record shares its member with others, and that cannot be cut apart.
        """
        return self._replaced.noted(self._stones(source))

    def _stones(self, source: Source) -> Iterator[Replacement]:
        shared = -1
        places = {
            (r.offset, r.inner_offset) for r in records_of(source) if r.ordinal in self.ordinals
        }
        for record in records_of(source):
            if record.ordinal not in self.ordinals or record.offset == shared:
                continue
            compression = compression_of(source, record.offset)
            if compression is not None and any(f.code == "member" for f in record.findings):
                shared = record.offset
                pieces = self._cut_apart(source, record, places)
            else:
                pieces = [self._alone(record, compression)]
            yield Replacement(record.offset, record.length, pieces)

    def _alone(self, record: Record, compression: str | None) -> bytes:
        stone = tombstone_of(record.header, self._inscription)
        if compression is None:
            # What closes an uncompressed record lies outside its length, and stays.
            return stone
        end = b"\n" if record.version.startswith("ARC") else RECORD_END
        return bz2.compress(stone + end) if compression == "bzip2" else compress_member(stone + end)

    def _cut_apart(
        self, source: Source, first: Record, places: set[tuple[int, int]]
    ) -> Iterable[bytes]:
        def stone(record: Record) -> list[bytes] | None:
            if (record.offset, record.inner_offset) not in places:
                return None
            return [tombstone_of(record.header, self._inscription), RECORD_END]

        try:
            return pieces_of(cut_apart(source, first.offset, first.length, stone))
        except Unwritable:
            raise MalformedRecord(
                "the records of this member do not add up to its content: not withdrawn",
                file=source.name,
                offset=first.offset,
            ) from None

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless only these records were replaced, by tombstones."""

        def fits(old: Record, new: Record) -> bool:
            return tombstone_of(old.header, self._inscription) == new.header.raw + block_of(new)

        self._replaced.check(before, after, self.ordinals, fits)

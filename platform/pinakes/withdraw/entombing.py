"""Tombstones for records of a file, and what is asked of the new file before anybody may read it.

A record that is alone in its members, or in none, is replaced as its bytes lie, whole or damaged;
members that several share are cut apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pinakes.dedupe.write.replaced_records import ReplacedRecords, block_of, records_of
from pinakes.rewrite.replace import Replacement, replacement_of, require_rewritable
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.tombstone import Inscription, tombstone_of
from pinakes.warc.write import RECORD_END

from .cutting import Cut, cut_apart


class Entombing:
    """Tombstones for records of one file, by ordinal."""

    def __init__(self, ordinals: Collection[int], inscription: Inscription) -> None:
        self.ordinals = ordinals
        self._inscription = inscription
        self._replaced = ReplacedRecords()

    def replacements(self, source: Source) -> Iterator[Replacement]:
        """The tombstones, in order of offset.

        Raises:
            MalformedRecord: a record shares a member that is damaged.
            InputRefused: a record is in a compression that is not written.
        """
        return self._replaced.noted(self._stones(source))

    def _stones(self, source: Source) -> Iterator[Replacement]:
        sharing = _Sharing(source)
        for record in records_of(source):
            shares = any(finding.code == "member" for finding in record.findings)
            if not shares or record.offset >= sharing.end:
                yield from sharing.replacement()
                sharing = _Sharing(source)
            stone = self._stone(source, record) if record.ordinal in self.ordinals else None
            closing = b"\n" if record.version.startswith("ARC") else RECORD_END
            if shares:
                sharing.add(record, None if stone is None else stone + closing)
            elif stone is not None:
                yield replacement_of(source, record, (stone,), closing=closing)
        yield from sharing.replacement()

    def _stone(self, source: Source, record: Record) -> bytes:
        require_rewritable(source, record.offset)
        return tombstone_of(record.header, self._inscription)

    def check(self, before: Source, after: Source) -> None:
        """Raise DigestMismatch unless only these records were replaced, by tombstones."""

        def fits(old: Record, new: Record) -> bool:
            return tombstone_of(old.header, self._inscription) == new.header.raw + block_of(new)

        self._replaced.check(before, after, self.ordinals, fits)


class _Sharing:
    """Records that share members with one another."""

    def __init__(self, source: Source) -> None:
        self.end = 0
        self._source = source
        self._cuts: list[Cut] = []

    def add(self, record: Record, stone: bytes | None) -> None:
        self._cuts.append(Cut(record.offset, record.inner_offset, stone))
        self.end = max(self.end, record.offset + record.length)

    def replacement(self) -> Iterator[Replacement]:
        """Their members anew, if any of them is replaced."""
        if any(cut.stone is not None for cut in self._cuts):
            start = self._cuts[0].offset
            pieces = cut_apart(self._source, start, self.end, self._cuts)
            yield Replacement(start, self.end - start, pieces)

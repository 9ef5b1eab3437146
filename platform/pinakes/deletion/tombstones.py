"""Tombstones for records of a file, and what is asked of the new file before anybody may read it.

A record that is alone in its members, or in none, is replaced as its bytes lie, whole or damaged;
members that several share are cut apart:

    members   |A A A B B|B B C C|        cuts   A  B  C
    becomes   |A A A|stone|C C|

Such a stretch is inflated once, and cut where its records begin.  What stays is compressed again as
it was inflated; what is between two records goes or stays with the first of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.dedupe.write.replaced_records import ReplacedRecords, block_of, records_of
from pinakes.errors import MalformedRecord
from pinakes.rewrite.replace import Replacement, replacement_of, require_rewritable
from pinakes.warc.compression.members import compression_at, inflate_member
from pinakes.warc.compression.port import Damage
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.tombstone import Inscription, tombstone_of
from pinakes.warc.write import RECORD_END


class Tombstones:
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
        self._cuts: list[_Cut] = []

    def add(self, record: Record, stone: bytes | None) -> None:
        self._cuts.append(_Cut(record.offset, record.inner_offset, stone))
        self.end = max(self.end, record.offset + record.length)

    def replacement(self) -> Iterator[Replacement]:
        """Their new members, if any of them is replaced."""
        if any(cut.stone is not None for cut in self._cuts):
            start = self._cuts[0].offset
            pieces = _cut_apart(self._source, start, self.end, self._cuts)
            yield Replacement(start, self.end - start, pieces)


class _Cut(NamedTuple):
    """Where a record begins, in which member; `stone`, with its line ends, stands for it."""

    offset: int
    inner_offset: int
    stone: bytes | None


def _cut_apart(source: Source, start: int, end: int, cuts: Sequence[_Cut]) -> Iterator[bytes]:
    """The members of `[start, end)`, which begin with the first record, with one for each record.

    Memory: a piece, or some MiB.

    Raises:
        MalformedRecord: a member is damaged, or what is no content is between them.
    """
    compression = compression_at(source, start)
    assert compression is not None
    if compression.passes_over_bytes(source, start, end):
        why = "a frame that cannot be read, or is none of a record, is here"
        raise _inseparable(why, source.name, start)
    for number, found in groupby(_cut(source, start, end, cuts), key=itemgetter(0)):
        stone = cuts[number].stone
        pieces = (piece for _, piece in found) if stone is None else (stone,)
        yield from compression.compress_pieces(source, pieces)


def _cut(
    source: Source, start: int, end: int, cuts: Sequence[_Cut]
) -> Iterator[tuple[int, memoryview]]:
    """(number of a record, a piece of it); at least one piece of each."""
    number = 0
    for at, inner, piece in _inflated(source, start, end):
        begin, view = 0, memoryview(piece)
        while number + 1 < len(cuts) and _begins_in(cuts[number + 1], at, inner + len(piece)):
            here = cuts[number + 1].inner_offset - inner
            yield number, view[begin:here]
            number, begin = number + 1, here
        yield number, view[begin:]


def _begins_in(cut: _Cut, offset: int, end: int) -> bool:
    return cut.offset == offset and cut.inner_offset < end


def _inflated(source: Source, at: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """(offset of a member, where in it the piece begins, the piece)."""
    while at < end:
        ends: dict[int, int] = {}
        inner = 0
        try:
            for piece in inflate_member(source, at, ends):
                yield at, inner, piece
                inner += len(piece)
        except Damage as damage:
            raise _inseparable(damage.message, source.name, at) from None
        at = ends[at]


def _inseparable(why: str, file: str, offset: int) -> MalformedRecord:
    return MalformedRecord(
        f"{why}: a record that shares this member cannot be cut out of it; take the crawl out "
        "(`pinakes crawl remove`), and land what may stay (`pinakes filter`)",
        file=file,
        offset=offset,
    )

"""Tombstones for records of a file, and what is asked of the new file before anybody may read it.

A record that is alone in its member, or in none, is replaced as its bytes lie, whole or damaged;
a member that holds several is cut apart.
"""

from __future__ import annotations

import bz2
from collections.abc import Collection, Container, Iterable, Iterator
from typing import NamedTuple

from pinakes.dedupe.validate.shared_members import (
    RECORD_END,
    compress_member,
    cut_apart,
    pieces_of,
)
from pinakes.errors import MalformedRecord
from pinakes.index.beside import BESIDE_RECORDS
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.rewrite.replace import Replacement
from pinakes.warc.field_names import (
    WARC_CONCURRENT_TO,
    WARC_REFERS_TO_KEY,
    WARC_SEGMENT_ORIGIN_ID_KEY,
)
from pinakes.warc.header import strip_brackets
from pinakes.warc.members import compression_of
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source
from pinakes.warc.tombstone import Inscription, is_tombstone, tombstone_of

from .replaced_records import ReplacedRecords, block_of, records_of

_STAYING = CAPTURE_TYPES | {"warcinfo"}


class _Named(NamedTuple):
    ordinal: int
    record_id: str | None
    concurrent_to: frozenset[str | None]
    target_uri: str | None
    date: str | None


def with_companions(source: Source, ordinals: Container[int]) -> set[int]:
    """These records of a file, and those that belong to them: requests, metadata, conversions,
    further segments.

    They name one of these, or are named by one (WARC-Concurrent-To, WARC-Refers-To,
    WARC-Segment-Origin-ID); a request that neither names nor is named is that of one capture of
    its URI beside it (`_answer_of`).  Another capture never belongs to one, nor does what a capture
    that stays names.  Memory: a name for each record asked for, for each capture of their URIs, and
    each request.
    """
    asked = [_named(r) for r in records_of(source) if r.ordinal in ordinals]
    ids = {name.record_id for name in asked} - {None}
    uris = {name.target_uri for name in asked}
    captures = [
        _named(r) for r in records_of(source) if r.type in CAPTURE_TYPES and r.target_uri in uris
    ]
    staying = (name for name in captures if name.ordinal not in ordinals)
    kept = {to for name in staying for to in name.concurrent_to}
    named = {to for name in asked for to in name.concurrent_to} - kept
    found = {name.ordinal for name in asked}
    for record in records_of(source):
        if record.type in _STAYING or is_tombstone(record.header):
            continue
        name = _named(record)
        to = {
            strip_brackets(record.header.field(key))
            for key in (WARC_REFERS_TO_KEY, WARC_SEGMENT_ORIGIN_ID_KEY)
        }
        if (
            not ids.isdisjoint(name.concurrent_to | to)
            or name.record_id in named
            or (
                record.type == "request"
                and name.record_id not in kept
                and _answer_of(name, captures) in found
            )
        ):
            found.add(record.ordinal)
    return found


def _named(record: Record) -> _Named:
    to = frozenset(map(strip_brackets, record.header.get_all(WARC_CONCURRENT_TO)))
    return _Named(record.ordinal, record.record_id, to, record.target_uri, record.date_text)


def _answer_of(request: _Named, captures: Iterable[_Named]) -> int | None:
    """The ordinal of the capture that a nameless request was answered by: of those beside it, of
    its URI, that name no other, one of its date before others, then the nearest."""
    if request.concurrent_to:
        return None
    beside = [
        (capture.date != request.date, abs(capture.ordinal - request.ordinal), capture.ordinal)
        for capture in captures
        if not capture.concurrent_to
        and capture.target_uri == request.target_uri
        and abs(capture.ordinal - request.ordinal) <= BESIDE_RECORDS
    ]
    return min(beside)[2] if beside else None


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

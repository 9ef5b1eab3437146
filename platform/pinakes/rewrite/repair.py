"""What is repaired in a WARC file, record by record, and what is left as it is.

    record that is read -> where its block ends -> its header put right -> what replaces it

The findings of `conformance` say what is wrong, `block_end` and `header_mends` what is right.  The
bytes of a block are never changed.  What the bytes do not show is left, and named: damaged
records, what is no record, records of other formats, and revisits of ours, which remember their
original line by line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from pinakes.conformance import framing
from pinakes.conformance.check import examine_record
from pinakes.conformance.rules import Hit, Severity
from pinakes.conformance.subject import Subject
from pinakes.conformance.table import RULES
from pinakes.errors import MalformedRecord
from pinakes.warc.compression.members import compression_at, compression_of
from pinakes.warc.file_names import base_name
from pinakes.warc.header import Header
from pinakes.warc.http.message import head_end
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import (
    DamagedStretch,
    Record,
    with_block,
)
from pinakes.warc.revisit import is_ours
from pinakes.warc.slices import iter_slice
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .block_end import TAIL_BYTES, block_size, fits, last_bytes, usable_length, with_size
from .file_parts import Bytes, FilePart, stretch_of
from .header_mends import REMOVED, HeaderChange, mended_header
from .replace import Replacement, bytes_behind, replacement_of, require_rewritable
from .shared_members import HARMLESS, holds_line_ends_only

_UNREAD = frozenset({"crc", "damaged"})
_MEMBER = "gzip-member"


class Repair(NamedTuple):
    """A record of the old file, or bytes that are none, and what becomes of them.

    `block` are the bytes of its block in the old file, again with each call; `left` are the errors
    that it has still.
    """

    item: Item
    block: Callable[[], Iterable[Bytes]]
    changes: list[HeaderChange]
    left: list[Hit]
    replacements: list[Replacement]


def iter_repairs(source: Source, unsplittable: set[int]) -> Iterator[Repair]:
    """Each record and damaged stretch of a file, in order, with its replacements.

    A replacement is to be written before the next repair is taken.
    """
    walk = _Walk(source, unsplittable)
    items = iter_records(source, digests=())
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        if isinstance(item, DamagedStretch):
            yield walk.stretch(item)
        else:
            repair, takes_next = walk.repair(item, following)
            yield repair
            if takes_next:
                following = next(items, None)
        item = following


def _left(item: Item, hits: Iterable[Hit]) -> Repair:
    block = item.chunks if isinstance(item, Record) else tuple[Bytes, ...]
    return Repair(item, block, [], list(hits), [])


def errors_of(subject: Subject, source: Source, *, by_reader: bool = True) -> list[Hit]:
    """What `check` calls an error in a record taken alone; without what it says of its length and
    its member, if not `by_reader`."""
    return _errors(_hits(subject, source, by_reader=by_reader))


def _errors(hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if RULES[hit.code].severity is Severity.ERROR]


def _hits(subject: Subject, source: Source, *, by_reader: bool) -> list[Hit]:
    hits = list(examine_record(subject, base_name(source.name)))
    if by_reader:
        compression = compression_of(source, subject.record.offset)
        hits += framing.check_reader_findings(subject, compression)
    holds = (subject.version, subject.type)
    return [hit for hit in hits if RULES[hit.code].holds(*holds)]


class _Walk:
    """Goes from record to record; knows where the one before has ended."""

    def __init__(self, source: Source, unsplittable: set[int]) -> None:
        self._source = source
        self._unsplittable = unsplittable
        self._end = 0
        self._split = -1
        # Up to there what is read as records may be the block of one whose length is not known.
        self._doubtful_end = 0

    def stretch(self, stretch: DamagedStretch) -> Repair:
        """Bytes that are no record stay as they are."""
        self._end = stretch.end
        return _left(stretch, [framing.check_damaged_stretch(stretch)])

    def repair(self, record: Record, following: Item | None) -> tuple[Repair, bool]:
        """What becomes of a record; and whether `following`, no record, is the end of its block."""
        codes = {finding.code for finding in record.findings}
        before = self._blank_before(record)
        self._end = record.offset + record.length
        if "member" in codes:
            repair, takes_next = self._shared(record, codes), False
        else:
            repair, takes_next = self._alone(record, following, codes)
        behind = [] if following is not None else self._empty_members_behind(record)
        changes = [*before.changes, *repair.changes, *(each for each, _ in behind)]
        replacements = [*before.replacements, *repair.replacements, *(each for _, each in behind)]
        return repair._replace(changes=changes, replacements=replacements), takes_next

    def _shared(self, record: Record, codes: set[str]) -> Repair:
        """A record out of a member that it shares: the first of them takes its place."""
        if record.offset in self._unsplittable or codes - HARMLESS:
            return self._kept(record)
        require_rewritable(self._source, record.offset)
        old = with_size(record, None, record.block_size)
        new, changes, left = (old, [], []) if _is_kept(record) else self._mended(old)
        own = replacement_of(self._source, record, chain((new.header.raw,), old.chunks()))
        if record.offset == self._split:
            own = Replacement(record.offset + record.length, 0, own.pieces)
        self._split = record.offset
        code = "zstd-record" if compression_of(self._source, record.offset) == "zstd" else _MEMBER
        change = HeaderChange(code, "", "with other records", "a member of its own")
        return Repair(record, old.chunks, [change, *changes], left, [own])

    def _kept(self, record: Record) -> Repair:
        return _left(record, errors_of(Subject.of(record), self._source))

    def _alone(
        self, record: Record, following: Item | None, codes: set[str]
    ) -> tuple[Repair, bool]:
        is_doubtful = record.offset < self._doubtful_end or head_end(record.header.raw) < 0
        if _is_kept(record) or codes & _UNREAD or is_doubtful:
            return self._kept(record), False
        is_plain = compression_at(self._source, record.offset) is None
        takes_next = is_plain and "record-end" in codes and isinstance(following, DamagedStretch)
        end = self._region_end(record, following, is_plain=is_plain, takes_next=takes_next)
        surplus = is_plain and end - self._end > len(RECORD_END)
        region = None
        old = record
        new, changes, left = self._mended(old)
        # A digest that is wrong may be that of a block with the line ends after it.
        if codes or surplus or any(change.after == REMOVED for change in changes):
            cut = takes_next or (is_plain and following is None and "truncated" in codes)
            try:
                region = self._region(record, end)
                size = self._block_size(record, region, maybe_cut=cut)
            except MalformedRecord:  # its member is damaged or cut off
                return self._kept(record), False
            if size is None:
                self._doubt(record, region, is_plain=is_plain)
                return self._kept(record), False
            old = with_size(record, region, size)
            new, changes, left = self._mended(old)
        if region is not None:
            changes += _framing_changes(region, old.block_size, surplus=surplus)
            self._end = end
        if not changes:
            return Repair(record, old.chunks, [], left, []), False
        require_rewritable(self._source, record.offset)
        own = self._replacement(record, old, new, region, end)
        return Repair(record, old.chunks, changes, left, [own]), takes_next

    def _doubt(self, record: Record, region: FilePart, *, is_plain: bool) -> None:
        promised = usable_length(record.header)
        if is_plain and promised is not None and promised > region.size:
            self._doubtful_end = record.offset + len(record.header.raw) + promised

    def _empty_members_behind(self, record: Record) -> list[tuple[HeaderChange, Replacement]]:
        size = self._source.size - self._end
        if size <= 0 or compression_of(self._source, record.offset) != "gzip":
            return []
        if not holds_line_ends_only(self._source, self._end, self._source.size):
            return []
        change = HeaderChange("between-records", "", f"{size} bytes after it", "none")
        return [(change, Replacement(self._end, size, ()))]

    def _blank_before(self, record: Record) -> Repair:
        """Line ends and empty members before a record that no record is closed by."""
        nothing = _left(record, ())
        start, size = self._end, record.offset - self._end
        is_plain = compression_at(self._source, record.offset) is None
        if record.inner_offset or size <= 0 or (is_plain and start):
            return nothing
        if not holds_line_ends_only(self._source, start, record.offset):
            return nothing
        if compression_of(self._source, record.offset) not in (None, "gzip"):
            return nothing
        change = HeaderChange("between-records", "", f"{size} bytes before it", "none")
        return nothing._replace(changes=[change], replacements=[Replacement(start, size, ())])

    def _region_end(
        self, record: Record, following: Item | None, *, is_plain: bool, takes_next: bool
    ) -> int:
        if not is_plain:
            return self._end
        if takes_next and isinstance(following, DamagedStretch):
            return following.end
        if following is None:
            return self._source.size
        return following.offset

    def _region(self, record: Record, end: int) -> FilePart:
        """All that comes after the header: block, line ends, and what else there is."""
        source, skipped = self._source, len(record.header.raw)
        start, length = record.offset, end - record.offset
        if compression_at(source, start) is None:
            at = start + skipped
            return FilePart(record, end - at, lambda: source.pieces(at, end))
        size = sum(map(len, iter_slice(source, start, length)))
        content = FilePart(record, size, lambda: iter_slice(source, start, length))
        return FilePart(record, size - skipped, lambda: stretch_of(content, skipped, size))

    def _block_size(self, record: Record, region: FilePart, *, maybe_cut: bool) -> int | None:
        _, tail = last_bytes(iter(region.pieces()), TAIL_BYTES)
        return block_size(
            region.size,
            tail,
            usable_length(record.header),
            lambda size: fits(with_size(record, region, size)),
            lf_only=record.header.line_end == b"\n",
            maybe_cut=maybe_cut,
        )

    def _mended(self, old: Record) -> tuple[Record, list[HeaderChange], list[Hit]]:
        subject = Subject.of(old)
        hits = _hits(subject, self._source, by_reader=False)
        codes = {hit.code for hit in hits}
        identity = ""
        if "record-id-missing" in codes:
            state = hashlib.sha256(old.header.raw)
            for piece in old.chunks():
                state.update(piece)
            identity = f"{old.ordinal} {state.hexdigest()}"
        is_right = usable_length(old.header) == old.block_size
        given = None if is_right else str(old.block_size)
        raw, changes = mended_header(subject, codes, given, identity)
        if not changes:
            return old, [], _errors(hits)
        new = with_block(old, Header(raw), old.body)
        return new, changes, errors_of(Subject.of(new), self._source, by_reader=False)

    def _replacement(
        self, record: Record, old: Record, new: Record, region: FilePart | None, end: int
    ) -> Replacement:
        source, header = self._source, new.header.raw
        pieces = chain((header,), old.chunks())
        if compression_at(source, record.offset) is not None:
            behind = bytes_behind(source, record) if region is None else ()
            return replacement_of(source, record, pieces, behind=behind)
        if region is None:
            return Replacement(record.offset, len(record.header.raw), (header,))
        return Replacement(record.offset, end - record.offset, chain(pieces, (RECORD_END,)))


def _is_kept(record: Record) -> bool:
    """Whether its header stays as it is: in another format, or a revisit of ours."""
    return Subject.of(record).version is None or is_ours(record.header)


def _framing_changes(region: FilePart, size: int, *, surplus: bool) -> Iterator[HeaderChange]:
    """How the record is closed, if that is not by two CRLF."""
    closing = b"".join(stretch_of(region, size, min(region.size, size + 64)))
    if closing != RECORD_END:
        code = "between-records" if surplus else "record-end"
        yield HeaderChange(code, "", f"closed by {closing!r}", "closed by two CRLF")

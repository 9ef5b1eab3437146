"""`refs`: write an archive file anew with its duplicates as revisits.

Takes the manifest lines that `process` decided on, by file and offset.  Trusts no
manifest: a record is replaced only if header, place and checksum still say that it is
the record the line speaks of, and that its body is the original's; see
docs/adr/0005-refs-proves-by-checksum.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.rewrite.replace import Replacement
from pinakes.warc.digest import Digest
from pinakes.warc.heads import RecordHead, head_of, read_head
from pinakes.warc.members import GZIP_MAGIC, MEMBER_START
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import Original, Unwritable, original_of
from pinakes.warc.revisit_forms import RevisitBuilder
from pinakes.warc.shapes import ShapeBook
from pinakes.warc.source import Source

from .archive_files import ArchiveFiles
from .shared_members import RECORD_END, compress_member, cut_apart, pieces_of

DEFAULT_MIN_SAVING_BYTES = 64
_KEPT_ORIGINALS = 1 << 16
_OFFSET = attrgetter("offset")
Place = tuple[str, int, int]
"""A record: name of its file, offset, inner offset."""


@dataclass(slots=True)
class RefsCount:
    """What became of the duplicates of a file (or, added up, of a run)."""

    records: int = 0
    saved_bytes: int = 0
    left_full: Counter[str] = field(default_factory=Counter)
    problems: list[InputRefused | MalformedRecord] = field(default_factory=list)

    def add(self, other: RefsCount) -> None:
        self.records += other.records
        self.saved_bytes += other.saved_bytes
        self.left_full.update(other.left_full)
        self.problems += other.problems


class KnownOriginal(NamedTuple):
    """What a revisit needs to know of its original, and the checksum of its body."""

    reference: Original
    record_type: str
    body_size: int
    rest_crc32: int


class RevisitWriter:
    """Builds the replacements for one run; keeps the originals read last."""

    def __init__(
        self,
        files: ArchiveFiles,
        *,
        run: str,
        min_saving_bytes: int | None = None,
        duplicates: Container[Place] = (),
    ) -> None:
        """`min_saving_bytes`: compressed bytes a revisit must save; None for no minimum.

        `duplicates` are the records that the manifest may have replaced, in whatever
        file: none of them becomes anybody's original.
        """
        self._files = files
        self._builder = RevisitBuilder(run)
        self._min_saving_bytes = min_saving_bytes
        self._duplicates = duplicates
        self._shapes = ShapeBook()
        self._original = lru_cache(maxsize=_KEPT_ORIGINALS)(self._read_original)

    def replacements(
        self, source: Source, lines: Iterable[ManifestLine], count: RefsCount
    ) -> Iterator[Replacement]:
        """Yield what changes in this file, in order of offset.

        `lines` are this file's, in order of offset; only those with a copy number above
        1 matter.  `count` is filled on the way.
        """
        # Each file anew: a book learns only so many shapes.
        self._shapes = ShapeBook()
        start = source.view(0, 4)
        members = MEMBER_START.match(start) is not None
        duplicates = (line for line in lines if (line.copy_number or 0) > 1)
        for _, group in groupby(duplicates, key=_OFFSET):
            found = list(group)
            if members and start[:3] != GZIP_MAGIC:
                count.left_full["compression"] += len(found)
            elif replacement := self._replace(source, found, count, members=members):
                yield replacement

    def _replace(
        self, source: Source, found: list[ManifestLine], count: RefsCount, *, members: bool
    ) -> Replacement | None:
        """What takes the place of the duplicates that begin at one offset."""
        line = found[0]
        if len(found) == 1 and not line.inner_offset:
            try:
                head = read_head(source, line.offset, line.length, shapes=self._shapes)
                revisit = self._revisit(source, line, head) if head.alone else b""
            except (Unwritable, InputRefused, MalformedRecord) as reason:
                _leave_full(reason, count)
                return None
            if revisit:
                data = compress_member(revisit + RECORD_END) if members else revisit
                return self._worthwhile(line.offset, head.length, len(data), (data,), 1, count)
        if not members:
            count.left_full["unreadable"] += len(found)
            count.problems.append(_not_there(source, line.offset))
            return None
        by_inner_offset = {line.inner_offset: line for line in found}
        return self._replace_shared(source, line.offset, by_inner_offset, count)

    def _replace_shared(
        self, source: Source, offset: int, found: dict[int, ManifestLine], count: RefsCount
    ) -> Replacement | None:
        """The member at `offset` cut apart, with the revisits among its records."""
        done = RefsCount()

        def revisit_of(record: Record) -> tuple[bytes, bytes] | None:
            line = found.pop(record.inner_offset, None)
            if line is None:
                return None
            try:
                revisit = self._revisit(source, line, head_of(record))
            except (Unwritable, InputRefused, MalformedRecord) as reason:
                _leave_full(reason, done)
                return None
            done.records += 1
            return revisit, RECORD_END

        first = read_record(source, offset, digests=())
        if not isinstance(first, Record) or first.offset != offset:
            count.left_full["unreadable"] += len(found)
            count.problems.append(_not_there(source, offset))
            return None
        wanted = len(found)
        try:
            result = cut_apart(source, offset, first.length, revisit_of)
        except Unwritable as reason:
            count.left_full[reason.reason] += wanted
            return None
        if found:
            count.left_full["unreadable"] += len(found)
            count.problems.append(_not_there(source, offset))
        count.left_full.update(done.left_full)
        count.problems += done.problems
        size = result.seek(0, 2)
        result.seek(0)
        if not done.records:
            result.close()
            return None
        return self._worthwhile(offset, first.length, size, pieces_of(result), done.records, count)

    def _worthwhile(
        self,
        offset: int,
        length: int,
        size: int,
        pieces: Iterable[bytes | memoryview],
        records: int,
        count: RefsCount,
    ) -> Replacement | None:
        saved = length - size
        if self._min_saving_bytes is not None and saved < self._min_saving_bytes:
            count.left_full["min-saving"] += records
            return None
        count.records += records
        count.saved_bytes += saved
        return Replacement(offset, length, pieces)

    def _revisit(self, source: Source, line: ManifestLine, head: RecordHead) -> bytes:
        """The bytes of the revisit that takes this record's place.

        Raises:
            Unwritable: where it stays full.
            MalformedRecord: where manifest and file speak of different records.
        """
        if line.original_file is None or line.original_offset is None:
            raise Unwritable("original-unknown")
        record_type = _check_line(source, head, line)
        place = (line.original_file, line.original_offset, line.original_inner_offset)
        if place in self._duplicates or place == (line.file, line.offset, line.inner_offset):
            raise Unwritable("original-not-full")
        original = self._original(*place, line.original_length or 0)
        reference = original.reference
        if (reference.target_uri, reference.date) != (line.original_uri, line.original_date):
            raise MalformedRecord(
                "the manifest's original is another record now: make the manifest again",
                file=line.original_file,
                offset=line.original_offset,
            )
        if not head.body_size:
            raise Unwritable("empty")
        if (head.body_size, head.rest_crc32, record_type) != (
            original.body_size,
            original.rest_crc32,
            original.record_type,
        ):
            raise Unwritable("body-differs")
        _check_order(line, reference)
        return self._builder.build(head.header, head.http_head, reference, crc32=head.crc32)

    def _read_original(
        self, name: str, offset: int, inner_offset: int, length: int
    ) -> KnownOriginal:
        source = self._files.source(name)
        head = read_head(source, offset, length, inner_offset=inner_offset, shapes=self._shapes)
        header = head.header
        record_type = header.record_type
        if record_type not in ("response", "resource"):
            raise Unwritable("original-not-full")
        if header.field("warc-truncated") is not None or header.field("warc-segment-number"):
            raise Unwritable("original-not-full")

        def stored_digest() -> Digest:
            record = read_record(source, offset, inner_offset=inner_offset)
            if not isinstance(record, Record):
                raise _not_there(source, offset)
            return record.payload_digest("sha1")

        return KnownOriginal(
            reference=original_of(header, stored_digest),
            record_type=record_type,
            body_size=head.body_size,
            rest_crc32=head.rest_crc32,
        )


def _leave_full(reason: Unwritable | InputRefused | MalformedRecord, count: RefsCount) -> None:
    if isinstance(reason, Unwritable):
        count.left_full[reason.reason] += 1
    else:
        count.left_full["unreadable"] += 1
        count.problems.append(reason)


def _not_there(source: Source, offset: int) -> MalformedRecord:
    return MalformedRecord(
        "the record here is not the manifest's: make the manifest again",
        file=source.name,
        offset=offset,
    )


def _check_line(source: Source, head: RecordHead, line: ManifestLine) -> str:
    """The record's type; MalformedRecord where it is not the one the line was made from."""
    record_type = head.header.record_type
    uri, date, _ = head.header.outline()
    if (
        record_type != (line.type or "response")
        or (uri or "") != line.target_uri
        or date != line.date
        or (line.size is not None and line.size != head.body_size)
    ):
        raise _not_there(source, line.offset)
    return record_type


def _check_order(line: ManifestLine, original: Original) -> None:
    """A revisit never refers to a later capture, nor to its own URI and second."""
    own = second_of(line.date)
    earlier = second_of(original.date)
    if own is None or earlier is None or earlier > own:
        raise Unwritable("original-later")
    if earlier == own and original.target_uri == line.target_uri:
        raise Unwritable("ambiguous-reference")

"""`refs`: write an archive file anew with its duplicates as revisits.

Takes the manifest lines that `process` decided on, by file and offset.  Trusts no
manifest: a record is replaced only if header, place and checksum still say that it is
the record the line speaks of, and that its body is the original's; see
docs/adr/0005-refs-proves-by-checksum.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from isal import isal_zlib

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.replace import Replacement
from pinakes.warc.dates import parse_date
from pinakes.warc.digest import Digest
from pinakes.warc.heads import RecordHead, read_head
from pinakes.warc.members import MEMBER_START
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import Original, Unwritable, build_revisit, original_of
from pinakes.warc.source import Source

from .archive_files import ArchiveFiles

DEFAULT_MIN_SAVING_BYTES = 64
_RECORD_END = b"\r\n\r\n"
# At this size level 1 of isal is as small as zlib's level 6, and six times as fast.
_SMALL_BYTES = 1 << 14
_KEPT_ORIGINALS = 1 << 16


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOriginal:
    """What a revisit needs to know of its original, and the checksum of its body."""

    reference: Original
    body_size: int
    rest_crc32: int


class RevisitWriter:
    """Builds the replacements for one run; keeps the originals read last."""

    def __init__(
        self, files: ArchiveFiles, *, run: str, min_saving_bytes: int | None = None
    ) -> None:
        """`min_saving_bytes`: compressed bytes a revisit must save; None for no minimum."""
        self._files = files
        self._run = run
        self._min_saving_bytes = min_saving_bytes
        self._original = lru_cache(maxsize=_KEPT_ORIGINALS)(self._read_original)

    def replacements(
        self, source: Source, lines: Iterable[ManifestLine], count: RefsCount
    ) -> Iterator[Replacement]:
        """Yield what changes in this file, in order of offset.

        `lines` are this file's, in order of offset; only those with a copy number above
        1 matter.  `count` is filled on the way.
        """
        members = MEMBER_START.match(source.view(0, 4)) is not None
        duplicates = (line for line in lines if line.copy_number and line.copy_number > 1)
        for _, group in groupby(duplicates, key=lambda line: line.offset):
            written = []
            for line in group:
                try:
                    revisit, alone = self._revisit(source, line)
                except Unwritable as kept:
                    count.left_full[kept.reason] += 1
                    continue
                except (InputRefused, MalformedRecord) as problem:
                    count.left_full["unreadable"] += 1
                    count.problems.append(problem)
                    continue
                written.append((line, revisit, alone))
            if written:
                yield from self._replace(source, written, count, members=members)

    def _replace(
        self,
        source: Source,
        written: list[tuple[ManifestLine, bytes, bool]],
        count: RefsCount,
        *,
        members: bool,
    ) -> Iterator[Replacement]:
        line, revisit, alone = written[0]
        if not members:
            data = revisit
        elif alone:
            data = compress_member(revisit + _RECORD_END)
        else:
            revisits = {line.inner_offset: revisit for line, revisit, _ in written}
            data = _cut_member_apart(source, line.offset, revisits)
        saved = line.length - len(data)
        if self._min_saving_bytes is not None and saved < self._min_saving_bytes:
            count.left_full["min-saving"] += len(written)
            return
        count.records += len(written)
        count.saved_bytes += saved
        yield Replacement(line.offset, line.length, (data,))

    def _revisit(self, source: Source, line: ManifestLine) -> tuple[bytes, bool]:
        """The bytes of the revisit, and whether its record is alone in its member."""
        if (
            line.original_file is None
            or line.original_offset is None
            or line.original_length is None
        ):
            raise Unwritable("original-unknown")
        head = read_head(source, line.offset, line.length, inner_offset=line.inner_offset)
        check_line(head, line, source.name)
        original = self._original(
            line.original_file,
            line.original_offset,
            line.original_length,
            line.original_inner_offset,
        )
        reference = original.reference
        if (reference.target_uri, reference.date) != (line.original_uri, line.original_date):
            raise MalformedRecord(
                "the manifest's original is another record now: make the manifest again",
                file=line.original_file,
                offset=line.original_offset,
            )
        if (head.body_size, head.rest_crc32) != (original.body_size, original.rest_crc32):
            raise Unwritable("body-differs")
        _check_order(head, reference)
        revisit = build_revisit(
            head.header, head.http_head, reference, run=self._run, crc32=head.crc32
        )
        return revisit, head.alone

    def _read_original(
        self, name: str, offset: int, length: int, inner_offset: int
    ) -> KnownOriginal:
        source = self._files.source(name)
        head = read_head(source, offset, length, inner_offset=inner_offset)
        if (head.header.get("WARC-Type") or "").lower() != "response":
            raise Unwritable("original-not-full")

        def stored_digest() -> Digest:
            record = read_record(source, offset, inner_offset=inner_offset)
            if not isinstance(record, Record):
                raise MalformedRecord("no record begins here", file=name, offset=offset)
            return record.payload_digest("sha1")

        return KnownOriginal(
            reference=original_of(head.header, stored_digest),
            body_size=head.body_size,
            rest_crc32=head.rest_crc32,
        )


def check_line(head: RecordHead, line: ManifestLine, name: str) -> None:
    """Raise MalformedRecord where the record is not the one the line was made from."""
    header = head.header
    uri = (header.get("WARC-Target-URI") or "").strip("<>")
    if (
        (header.get("WARC-Type") or "").lower() != "response"
        or uri != line.target_uri
        or header.get("WARC-Date") != line.date
        or (line.size is not None and line.size != head.body_size)
    ):
        raise MalformedRecord(
            "the record here is not the manifest's: make the manifest again",
            file=name,
            offset=line.offset,
        )


def _check_order(head: RecordHead, original: Original) -> None:
    """A revisit never refers to a later capture."""
    own = parse_date(head.header.get("WARC-Date") or "")
    earlier = parse_date(original.date)
    if own is None or earlier is None or earlier.replace(microsecond=0) > own:
        raise Unwritable("original-later")


def compress_member(data: bytes) -> bytes:
    """One gzip member: no name, no time, so that the same input gives the same bytes."""
    if len(data) <= _SMALL_BYTES:
        return isal_zlib.compress(data, 1, 31)
    return isal_zlib.compress(data, 3, 31)


def _cut_member_apart(source: Source, offset: int, revisits: dict[int, bytes]) -> bytes:
    """Each record of a shared member in a member of its own, some of them as revisits."""
    parts = []
    for record in iter_records(source, start=offset):
        if not isinstance(record, Record) or record.offset != offset:
            break
        whole = revisits.get(record.inner_offset)
        if whole is None:
            whole = record.header.raw + b"".join(record.chunks())
        parts.append(compress_member(whole + _RECORD_END))
    return b"".join(parts)

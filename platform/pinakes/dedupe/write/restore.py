"""`restore`: revisits that we wrote become full records again, byte for byte.

Needs nothing but the revisit and its original.  A restored record is proven by the
CRC-32 that the revisit carries before the file is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from isal import isal_zlib

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals, Wanted, wanted_by
from pinakes.dedupe.validate.shared_members import cut_apart, pieces_of
from pinakes.errors import (
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
    UnresolvedReference,
    at_place,
)
from pinakes.rewrite.replace import Replacement, bytes_behind, replacement_of
from pinakes.warc.field_names import CONTENT_LENGTH_KEY
from pinakes.warc.header import Header
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import (
    Unwritable,
    is_ours,
    replaced_crc32,
    restore_header,
    restored_pieces,
)
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .provable import require_provable


@dataclass(slots=True)
class RestoreCount:
    """What became of the revisits of a file."""

    restored: int = 0
    left: Counter[str] = field(default_factory=Counter)
    problems: list[PinakesError] = field(default_factory=list)


def want_originals(source: Source, originals: Originals) -> None:
    """Note what the revisits of this file refer to (the first pass)."""
    for record in iter_records(source, digests=()):
        wanted = wanted_of(record)
        if wanted is not None:
            originals.want(wanted)


def wanted_of(record: Item) -> Wanted | None:
    """What a revisit of ours refers to; None of any other record."""
    if isinstance(record, Record) and record.type == "revisit" and is_ours(record.header):
        return wanted_by(record.header)
    return None


def restorations(
    source: Source,
    originals: Originals,
    files: ArchiveFiles,
    count: RestoreCount,
    only: Container[tuple[int, int]] | None = None,
) -> Iterator[Replacement]:
    """Yield each revisit of ours as the full record it was, in order of offset.

    A revisit written by others is left: what it replaced was never recorded.  `only`
    names those to restore, by offset and inner offset.
    """
    shared = -1
    for record in iter_records(source, digests=()):
        if not isinstance(record, Record):
            count.left["unreadable"] += 1
            continue
        if record.type != "revisit":
            continue
        if only is not None and (record.offset, record.inner_offset) not in only:
            continue
        if not is_ours(record.header):
            count.left["written by others"] += 1
            continue
        try:
            require_provable(source, record.offset)
        except InputRefused as problem:
            count.left["not restored"] += 1
            count.problems.append(problem)
            continue
        if _is_shared(record):
            if record.offset != shared:
                shared = record.offset
                yield from _restore_shared(source, record, originals, files, count)
        else:
            original = original_or_none(source.name, record, originals, files, count)
            if original is None:
                continue
            count.restored += 1
            pieces = _unclosed_pieces(record, original)
            yield replacement_of(source, record, pieces, behind=bytes_behind(source, record))


def _is_shared(record: Record) -> bool:
    return {finding.code for finding in record.findings} == {"member"}


def _restore_shared(
    source: Source,
    first: Record,
    originals: Originals,
    files: ArchiveFiles,
    count: RestoreCount,
) -> Iterator[Replacement]:
    """A member that somebody put several records into: each in one of its own."""
    done = RestoreCount()

    def restored(record: Record) -> Iterable[bytes | memoryview] | None:
        if record.type != "revisit" or not is_ours(record.header):
            return None
        original = original_or_none(source.name, record, originals, files, done)
        if original is None:
            return None
        done.restored += 1
        return full_record_pieces(record, original)

    try:
        result = cut_apart(source, first.offset, first.length, restored)
    except Unwritable:
        count.left["not restored"] += 1
        count.problems.append(
            MalformedRecord(
                "the records of this member do not add up to its content: left as they are",
                file=source.name,
                offset=first.offset,
            )
        )
        return
    count.left.update(done.left)
    count.problems += done.problems
    count.restored += done.restored
    if done.restored:
        yield Replacement(first.offset, first.length, pieces_of(result))


def original_or_none(
    name: str, record: Record, originals: Originals, files: ArchiveFiles, count: RestoreCount
) -> Record | None:
    """The original of a revisit of ours; None, and counted, where it cannot be restored."""
    try:
        if any(finding.code != "member" for finding in record.findings):
            raise MalformedRecord("the revisit is damaged")  # noqa: TRY301
        return find_original(record, originals, files)
    except (UnresolvedReference, DigestMismatch, MalformedRecord, InputRefused) as problem:
        problem.file, problem.offset = name, record.offset
        count.left["not restored"] += 1
        count.problems.append(problem)
        return None


def full_record_pieces(revisit: Record, original: Record) -> Iterable[bytes | memoryview]:
    """The full record's bytes, from the revisit's heads and the original's body."""
    return chain(_unclosed_pieces(revisit, original), (RECORD_END,))


def _unclosed_pieces(revisit: Record, original: Record) -> Iterable[bytes | memoryview]:
    return restored_pieces(revisit.header, b"".join(revisit.chunks()), original.payload())


def find_original(revisit: Record, originals: Originals, files: ArchiveFiles) -> Record:
    """The record that gives this revisit its body back, proven by length and checksum.

    Raises:
        UnresolvedReference: where no file has it.
        DigestMismatch: where what is there has another body.
        MalformedRecord: where the revisit does not say what it replaced.
    """
    expected = replaced_crc32(revisit.header)
    promised = Header(restore_header(revisit.header)).field(CONTENT_LENGTH_KEY)
    places = list(originals.places(revisit.header))
    for place in places:
        record = read_record(
            files.source(place.file), place.offset, inner_offset=place.inner_offset, digests=()
        )
        if not isinstance(record, Record) or place.record_id not in (None, record.record_id):
            continue
        if promised != str(revisit.body.size + record.payload_size):
            continue
        crc = 0
        for piece in full_record_pieces(revisit, record):
            crc = isal_zlib.crc32(piece, crc)
        if crc == expected:
            return record
    raise DigestMismatch(
        f"the original found ({at_place(places[0].file, places[0].offset)}) has another body",
        kind="the original found has another body",
    )

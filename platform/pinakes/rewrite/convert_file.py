"""One ARC file to one WARC file: written aside, verified, then published; and the way back, to the
readable bytes of the ARC file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.archive_store.local.whole_files import OutputFolder, written_aside
from pinakes.archive_store.located import open_place
from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.rewrite import arc_fields
from pinakes.warc.file_names import base_name, without_compression
from pinakes.warc.file_progress import Advance
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Finding, Record
from pinakes.warc.source import Source
from pinakes.warc.write import gzip_member, record_pieces

from .arc_bytes import ArcRecord, NonRecordBytes, findings_of, readable_pieces
from .convert import ArcSurvey, iter_converted, survey_arc, warc_name
from .new_file import WOULD_WRITE, NewFiles, write_checked

_WARCINFO_LIMIT_BYTES = 1 << 16


def rebuild_arc(warc: Source) -> Iterator[bytes | memoryview]:
    """The readable bytes of the ARC file, in order and lazily.

    Raises:
        MalformedRecord: if the file is damaged, or was not written by `pinakes convert`.
    """
    records = _records(warc)
    _declared(next(records, None), warc)
    for record in records:
        line = record.header.get(arc_fields.HEADER)
        if line is None and record.header.get(arc_fields.STRETCH) is None:
            raise _not_ours(warc, record.offset)
        if line is not None:
            yield arc_fields.decode_bytes(line)
        yield from record.chunks()
        yield arc_fields.decode_bytes(record.header.get(arc_fields.AFTER) or "")


def verify_conversion(arc: Source, warc: Source) -> int:
    """Compare an ARC file with the ARC rebuilt from its WARC file; return the bytes compared.

    Raises:
        DigestMismatch: at the first byte that differs, counted in readable bytes.
        MalformedRecord: as `rebuild_arc`.
    """
    original = (memoryview(piece.data) for piece in readable_pieces(arc))
    ahead = memoryview(b"")
    compared = 0
    for rebuilt in rebuild_arc(warc):
        left = memoryview(rebuilt)
        while left:
            ahead = ahead or next(original, memoryview(b""))
            count = min(len(left), len(ahead))
            if not count or left[:count] != ahead[:count]:
                pairs = enumerate(zip(left, ahead, strict=False))
                raise _differs(warc, compared + next((n for n, (a, b) in pairs if a != b), 0))
            left, ahead = left[count:], ahead[count:]
            compared += count
    if ahead or next(original, None) is not None:
        raise _differs(warc, compared)
    return compared


def verify_alone(warc: Source) -> int:
    """The same without the ARC file, by the checksum in the warcinfo record.

    Raises:
        DigestMismatch: if the checksum differs.
        MalformedRecord: as `rebuild_arc`.
    """
    declared = _declared(next(_records(warc), None), warc)
    digest = hashlib.sha256()
    size = 0
    for piece in rebuild_arc(warc):
        digest.update(piece)
        size += len(piece)
    if digest.hexdigest() != declared:
        raise DigestMismatch("does not give back the ARC file that it names", file=warc.name)
    return size


def _records(warc: Source) -> Iterator[Record]:
    for item in iter_records(warc):
        if isinstance(item, DamagedStretch):
            raise MalformedRecord(item.reason, file=warc.name, offset=item.offset)
        for finding in item.findings:
            raise MalformedRecord(finding.message, file=warc.name, offset=finding.offset)
        yield item


def _declared(record: Record | None, warc: Source) -> str:
    """The checksum of the readable bytes, from the warcinfo record."""
    if record is None or record.type != "warcinfo" or record.block_size > _WARCINFO_LIMIT_BYTES:
        raise _not_ours(warc, 0)
    for line in b"".join(record.chunks()).decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(": ")
        if name == "pinakes-arc-readable-sha256":
            return value
    raise _not_ours(warc, record.offset)


def _not_ours(warc: Source, offset: int) -> MalformedRecord:
    return MalformedRecord("not a record of `pinakes convert`", file=warc.name, offset=offset)


def _differs(warc: Source, place: int) -> DigestMismatch:
    return DigestMismatch(
        f"gives back another ARC file: the first difference is at byte {place} of its content",
        file=warc.name,
    )


@dataclass(slots=True, kw_only=True)
class Conversion:
    """The result of a conversion; counts grow while it is written."""

    arc: str
    warc: str
    outcome: str = WOULD_WRITE
    records: dict[str, int] = field(default_factory=dict)
    """ARC records by the type that they became."""
    stretches: list[Finding] = field(default_factory=list)
    """Bytes that are not a record, carried over unchanged."""
    findings: list[Finding] = field(default_factory=list)
    """The findings of records that were carried over."""
    verified_bytes: int | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json`; documented in docs/convert.md."""
        return {
            "arc": self.arc,
            "warc": self.warc,
            "outcome": self.outcome,
            "records": self.records,
            "stretches": [finding._asdict() for finding in self.stretches],
            "findings": [finding._asdict() for finding in self.findings],
            "verified_bytes": self.verified_bytes,
        }

    def count(self, part: ArcRecord | NonRecordBytes | None, *, compressed: bool) -> None:
        if isinstance(part, ArcRecord):
            name = part.record.type
            self.records[name] = self.records.get(name, 0) + 1
            self.findings += findings_of(part.record)
        elif part is not None:
            offset = part.run.file_offset(compressed=compressed)
            message = f"{part.run.size} bytes kept unchanged: {part.reason}"
            self.stretches.append(Finding("stretch", message, offset))


def convert_file(
    arc: str,
    folder: Path,
    *,
    verify: bool = False,
    dry_run: bool = False,
    advance: Advance | None = None,
) -> Conversion:
    """`convert_source` of the file at `arc`, a path or URL, into a folder."""
    with open_place(arc) as source:
        return convert_source(
            source, arc, OutputFolder(folder), verify=verify, dry_run=dry_run, advance=advance
        )


def convert_source(
    source: Source,
    arc: str,
    files: NewFiles,
    *,
    verify: bool,
    dry_run: bool = False,
    advance: Advance | None = None,
) -> Conversion:
    """Convert an ARC file, which is that at `arc`; the same bytes each time.

    Idempotent: an equal WARC file that exists already is left as it is.  With `verify` the
    ARC is rebuilt from the written file before that is published.  `advance` is called with
    the number of ARC bytes done.

    Raises:
        InputRefused: if it is not an ARC file, changed while it was read, or would
            replace another file.
        DigestMismatch: if the verification fails; nothing is published then.
        Conflict, StoreUnavailable: as `new_file.write_checked`.
    """
    survey = survey_arc(source)
    name = warc_name(survey.name, compressed=survey.compressed)
    result = Conversion(arc=arc, warc=files.named(name))
    pieces = _with_progress(warc_pieces(source, survey, result), source, result, advance)

    def check(written: Source) -> None:
        if verify:
            result.verified_bytes = verify_conversion(source, written)

    result.outcome = write_checked(files, name, source, pieces, check, dry_run=dry_run)
    return result


def rebuild_file(warc: str, folder: Path) -> Path:
    """Write the ARC file that a converted WARC file was made from, uncompressed.

    Raises:
        MalformedRecord: if the file is damaged or not a conversion.
        DigestMismatch: if the result is not the file that the warcinfo names.
        InputRefused: if the target exists.
    """
    with open_place(warc) as source:
        verify_alone(source)
        stem = without_compression(base_name(warc)).removesuffix(".warc")
        target = folder / f"{stem}.arc"
        with written_aside(target) as out:
            for piece in rebuild_arc(source):
                out.write(piece)
            source.check_unchanged()
    return target


def warc_pieces(
    source: Source, survey: ArcSurvey, result: Conversion
) -> Iterator[bytes | memoryview]:
    """The bytes of the WARC file; counted in `result` while they are read."""
    for converted in iter_converted(source, survey):
        result.count(converted.part, compressed=survey.compressed)
        pieces = record_pieces(converted.header, converted.block)
        yield from gzip_member(pieces) if survey.compressed else pieces


def _with_progress(
    pieces: Iterable[bytes | memoryview],
    source: Source,
    result: Conversion,
    advance: Advance | None,
) -> Iterator[bytes | memoryview]:
    """The same pieces; calls `advance` in proportion to the bytes written."""
    reported = 0
    for piece in pieces:
        yield piece
        if advance is not None:
            step = min(len(piece), source.size - reported)
            reported += step
            advance(step)
    if advance is not None:
        advance(source.size - reported)

"""One ARC file to one WARC file: written aside, verified, then published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.archive_store.local.whole_files import OutputFolder, written_aside
from pinakes.archive_store.located import open_place
from pinakes.warc.file_names import base_name, without_compression
from pinakes.warc.file_progress import Advance
from pinakes.warc.record import Finding
from pinakes.warc.source import Source
from pinakes.warc.write import gzip_member, record_pieces

from .arc_parts import ArcRecord, Stretch, findings_of
from .convert import Survey, iter_converted, survey_arc, warc_name
from .new_file import WOULD_WRITE, NewFiles, write_checked
from .rebuild import rebuild_arc, verify_alone, verify_conversion


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

    def count(self, part: ArcRecord | Stretch | None, *, compressed: bool) -> None:
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


def warc_pieces(source: Source, survey: Survey, result: Conversion) -> Iterator[bytes | memoryview]:
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
    told = 0
    for piece in pieces:
        yield piece
        if advance is not None:
            step = min(len(piece), source.size - told)
            told += step
            advance(step)
    if advance is not None:
        advance(source.size - told)

"""One ARC file to one WARC file in a folder: written aside, verified, then published."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.archive_store.located import open_place
from pinakes.archive_store.whole_files import remove_leftover, written_aside
from pinakes.errors import InputRefused
from pinakes.warc.file_names import base_name, without_compression
from pinakes.warc.opening import open_source
from pinakes.warc.record import Finding
from pinakes.warc.source import Source
from pinakes.warc.write import gzip_member, record_pieces

from .arc_parts import ArcRecord, Stretch, findings_of
from .convert import Survey, iter_converted, survey_arc, warc_name
from .copying import write_all
from .rebuild import rebuild_arc, verify_alone, verify_conversion

WRITTEN, UNCHANGED, WOULD_WRITE = "written", "unchanged", "would write"


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
    advance: Callable[[int], None] | None = None,
) -> Conversion:
    """Convert the file at `arc`, a path or URL, into `folder`; the same bytes each time.

    Idempotent: an equal WARC file that exists already is left as it is.  With `verify` the
    ARC is rebuilt from the written file before that is published.  `advance` is called with
    the number of ARC bytes done.

    Raises:
        InputRefused: if `arc` is not an ARC file, changed while it was read, or would
            replace another file.
        DigestMismatch: if the verification fails; nothing is published then.
        Conflict, StoreUnavailable: as `written_aside`.
    """
    with open_place(arc) as source:
        survey = survey_arc(source)
        target = folder / warc_name(survey.name, compressed=survey.compressed)
        result = Conversion(arc=arc, warc=str(target))
        pieces = _with_progress(warc_pieces(source, survey, result), source, result, advance)

        def check(written: Source) -> None:
            if verify:
                result.verified_bytes = verify_conversion(source, written)

        result.outcome = write_checked(pieces, target, source, check, dry_run=dry_run)
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
        with written_aside(target) as descriptor:
            for piece in rebuild_arc(source):
                write_all(descriptor, piece)
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
    advance: Callable[[int], None] | None,
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


def write_checked(
    pieces: Iterable[bytes | memoryview],
    target: Path,
    source: Source,
    check: Callable[[Source], None],
    *,
    dry_run: bool,
) -> str:
    """Write a new file of these pieces, which are made of `source`: `WRITTEN`, or why it was not.

    `check` is given what was written before that is published, or the equal file that was there.
    With `dry_run` the pieces are drawn, and nothing is checked.

    Raises:
        InputRefused: another file is there, or `source` changed meanwhile.
        Conflict, StoreUnavailable: as `written_aside`; and what `check` raises.
    """
    outcome = WOULD_WRITE
    if os.path.lexists(target):
        with open_source(target) as existing:
            require_equal(pieces, existing)
            remove_leftover(target)
            check(existing)
        outcome = UNCHANGED
    elif dry_run:
        for _ in pieces:
            pass
    else:
        with written_aside(target) as descriptor:
            for piece in pieces:
                write_all(descriptor, piece)
            with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
                check(Source(file, name=str(target)))
            source.check_unchanged()
        outcome = WRITTEN
    source.check_unchanged()
    return outcome


def require_equal(pieces: Iterable[bytes | memoryview], existing: Source) -> None:
    """Raise InputRefused unless the existing file has exactly these bytes."""
    at = 0
    for piece in pieces:
        if existing.view(at, len(piece)) != piece:
            break
        at += len(piece)
    else:
        if at == existing.size:
            return
    raise InputRefused(
        "exists already with other content: move it, or give another folder",
        file=existing.name,
    )

"""One archive file to one in another compression: written aside, verified, then published."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinakes.archive_store.local.whole_files import OutputFolder
from pinakes.archive_store.located import open_place, output_name
from pinakes.errors import InputRefused
from pinakes.warc.compression import zstd_frames
from pinakes.warc.compression.members import compression_of
from pinakes.warc.compression.zstd_format import DICTIONARY_MAGIC, FRAME_MAGIC
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.record import DamagedStretch, Finding
from pinakes.warc.source import Source

from .arc_bytes import findings_of
from .file_parts import Bytes, FilePart, iter_parts
from .new_file import WOULD_WRITE, NewFiles, write_checked
from .recompress import Content, MemberForm, iter_members, require_same

PLANNED = "planned"
TOO_LITTLE = "saves too little"
"""The outcome of a file that is left, since the new one would not be smaller by a minimum."""
_PASSES = 3
_SAMPLE_BYTES = 1 << 26
"""A file of more content is planned by about so much of it."""
_SEED = "pinakes zstd"


@dataclass(slots=True, kw_only=True)
class Recompression:
    """The result for one file; counts grow while it is read."""

    file: str
    target: str
    outcome: str = WOULD_WRITE
    records: dict[str, int] = field(default_factory=dict)
    stretches: list[Finding] = field(default_factory=list)
    """Bytes that are no record, carried over unchanged."""
    findings: list[Finding] = field(default_factory=list)
    """Of records, which have them in the new file, too."""
    left_out: list[Finding] = field(default_factory=list)
    """Skippable frames of a Zstandard file, but for its dictionary: they hold no content."""
    bytes_before: int = 0
    bytes_after: int = 0
    sampled_records: int | None = None
    """How many `bytes_after` was worked out from; None: from all."""
    content: Content | None = None
    """What both files hold; None where none was verified."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`; documented in docs/zstd.md."""
        return {
            "file": self.file,
            "target": self.target,
            "outcome": self.outcome,
            "records": self.records,
            "stretches": [finding._asdict() for finding in self.stretches],
            "findings": [finding._asdict() for finding in self.findings],
            "left_out": [finding._asdict() for finding in self.left_out],
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
            "sampled_records": self.sampled_records,
            "content_bytes": None if self.content is None else self.content.size,
            "content_sha256": None if self.content is None else self.content.sha256,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Recompression:
        """Undo `as_json`."""
        values = dict(fields)
        size, sha256 = values.pop("content_bytes"), values.pop("content_sha256")
        for name in ("stretches", "findings", "left_out"):
            values[name] = [Finding(**finding) for finding in values[name]]
        return cls(**values, content=None if sha256 is None else Content(size, sha256))

    def saves_too_little(self, min_saving: float) -> bool:
        """Whether less is saved than this part of the file; 0: any size will do."""
        saved = self.bytes_before - self.bytes_after
        return min_saving > 0 and saved < min_saving * self.bytes_before

    def left_as_it_is(self, outcome: str) -> Recompression:
        """The same, of a file that is not written; `outcome` says why."""
        self.target, self.outcome = self.file, outcome
        return self

    def count(self, part: FilePart) -> None:
        item = part.item
        if isinstance(item, DamagedStretch):
            message = f"{part.size} bytes kept unchanged: {item.reason}"
            self.stretches.append(Finding("stretch", message, item.offset))
        elif item is not None:
            self.records[item.type] = self.records.get(item.type, 0) + 1
            self.findings += findings_of(item)


def recompress_file(
    place: str,
    folder: Path,
    form: MemberForm,
    *,
    dry_run: bool = False,
    min_saving: float = 0,
    threads: int = 1,
    advance: Advance = no_advance,
) -> Recompression:
    """`recompress_source` of the file at `place`, a path or URL, into a folder."""
    with open_place(place) as source, FileProgress(advance, source.size, passes=_PASSES) as done:
        source.watch(done.reached)
        return recompress_source(
            source,
            place,
            form,
            OutputFolder(folder),
            dry_run=dry_run,
            min_saving=min_saving,
            threads=threads,
        )


def recompress_source(
    source: Source,
    place: str,
    form: MemberForm,
    files: NewFiles,
    *,
    dry_run: bool = False,
    min_saving: float = 0,
    threads: int = 1,
    reads: Callable[[Source], None] = lambda written: None,
) -> Recompression:
    """Write a file, which is that at `place`, in another form.

    The same bytes each time; an equal file that exists already is left as it is.  The new file is
    read again and compared before it is published; none is, if it saves less than `min_saving`.
    `reads` is called with what is there to be compared, before that is read.

    Raises:
        MalformedRecord: bytes of the file cannot be read.
        InputRefused: it has no record, changed while it was read, or would replace another file.
        DigestMismatch: what was written is not the same; nothing is published then.
        Conflict, StoreUnavailable: as `new_file.write_checked`.
    """
    name = form.name(output_name(place))
    result = Recompression(file=place, target=files.named(name), bytes_before=source.size)
    pieces = worthwhile(member_pieces(source, form, result, threads=threads), result, min_saving)

    def check(written: Source) -> None:
        reads(written)
        result.content = require_same(source, written)

    try:
        result.outcome = write_checked(files, name, source, pieces, check, dry_run=dry_run)
    except SavesTooLittleError:
        return result.left_as_it_is(TOO_LITTLE)
    return result


class SavesTooLittleError(Exception):
    """A new file is not smaller by the minimum: it is not to be published."""


def worthwhile(
    pieces: Iterator[Bytes], result: Recompression, min_saving: float
) -> Iterator[Bytes]:
    """The same pieces; after the last, raises SavesTooLittleError where that is so."""
    yield from pieces
    if result.saves_too_little(min_saving):
        raise SavesTooLittleError


def member_pieces(
    source: Source, form: MemberForm, result: Recompression, *, threads: int = 1
) -> Iterator[Bytes]:
    """The bytes of the new file; counted in `result` while they are read."""
    for piece in iter_members(_parts(source, result), form, threads=threads):
        result.bytes_after += len(piece)
        yield piece


def plan_file(
    place: str,
    folder: Path,
    form: MemberForm,
    *,
    min_saving: float = 0,
    threads: int = 1,
    advance: Advance = no_advance,
) -> Recompression:
    """Say how large the new file would be; nothing is written.

    Of a file that is larger than `_SAMPLE_BYTES` some records are compressed, drawn by a seed.
    `Raises` as `recompress_file`, but compares nothing.
    """
    with open_place(place) as source, FileProgress(advance, source.size) as done:
        source.watch(done.reached)
        target = folder / form.name(output_name(place))
        result = Recompression(
            file=place, target=str(target), outcome=PLANNED, bytes_before=source.size
        )
        forecast(source, form, result, threads=threads)
        source.check_unchanged()
    return result.left_as_it_is(TOO_LITTLE) if result.saves_too_little(min_saving) else result


def forecast(
    source: Source,
    form: MemberForm,
    result: Recompression,
    *,
    threads: int = 1,
    of_all: bool = False,
) -> None:
    """Work out how large a file would be in another form; by all records, if asked to, or if they
    are few.

    Raises:
        MalformedRecord: bytes of the file cannot be read.
        InputRefused: it has no record.
    """
    sample = _Sample(1.0 if of_all else min(1.0, _SAMPLE_BYTES / max(source.size, 1)))
    parts = sample.drawn(_parts(source, result))
    written = sum(map(len, iter_members(parts, form, threads=threads))) - len(form.start)
    if sample.records < sum(result.records.values()):
        result.sampled_records = sample.records
    scale = sample.all_bytes / sample.drawn_bytes if sample.drawn_bytes else 0.0
    result.bytes_after = round(written * scale) + len(form.start)


class _Sample:
    """Parts of a file, each drawn with the same probability, by a seed."""

    def __init__(self, probability: float) -> None:
        self._probability = probability
        self._random = random.Random(_SEED)  # noqa: S311  it draws records
        self.records = self.drawn_bytes = self.all_bytes = 0

    def drawn(self, parts: Iterator[FilePart]) -> Iterator[FilePart]:
        for part in parts:
            self.all_bytes += part.size
            if self._random.random() < self._probability:
                self.drawn_bytes += part.size
                self.records += part.item is not None and not isinstance(part.item, DamagedStretch)
                yield part


def _parts(source: Source, result: Recompression) -> Iterator[FilePart]:
    for part in iter_parts(source):
        result.count(part)
        yield part
    if not result.records:
        raise InputRefused("no record in it: not an archive file", file=source.name)
    result.left_out += _skippable_frames(source)


def _skippable_frames(source: Source) -> Iterator[Finding]:
    """Those of a Zstandard file, but for its dictionary."""
    at: int | None = 0 if compression_of(source) == zstd_frames.NAME else None
    while at is not None and at < source.size:
        end = zstd_frames.proven_end(source, at)
        magic = bytes(source.view(at, len(FRAME_MAGIC)))
        is_kept = magic == FRAME_MAGIC or (not at and magic == DICTIONARY_MAGIC)
        if end is not None and not is_kept:
            yield Finding("skippable", f"a skippable frame of {end - at} bytes is left out", at)
        at = end

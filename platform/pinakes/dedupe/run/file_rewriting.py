"""One file of a run: its duplicates become revisits, in a new generation that is then current.

Written here, or taken as a task has written it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial
from sys import intern
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, MarksOf, Replacements
from pinakes.acts.many_files import AsItIs, FileResult, rewrite_file
from pinakes.acts.waves import FileOutcome, WrittenFile, take_file
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import Held, read_entry
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.write.proofs import require_records
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .run_files import RunFiles
from .run_report import DONE_ALREADY, KEPT_FULL

Pair = tuple[ManifestLine, bytes]
"""A decided line, and the row key of its original."""
Decided = dict[int, Pair]
"""By the record's ordinal."""


class RewritingTask(NamedTuple):
    """A file to be rewritten."""

    archive_file: str
    pairs: list[Pair]
    """Its duplicates, as they were decided on."""
    lines: list[ManifestLine]
    """The same, each original where it is now."""
    size: int
    """How far it advances the run."""
    takes_bytes: int
    """What its new generation takes, about."""

    @property
    def relocated(self) -> Iterator[Pair]:
        """The lines with the row keys of their originals."""
        return zip(self.lines, (key for _, key in self.pairs), strict=True)


class Rewritten(NamedTuple):
    """What became of a file; `why_not` says why it is left as it is, if it is."""

    refs: RefsCount
    why_not: str | None = None
    size: int = 0
    """What was written, in bytes."""


def decided_by_ordinal(
    archive: ArchiveReader, stored_file: str, pairs: list[Pair]
) -> Decided | None:
    """The decisions by ordinal; None where the places are those of another generation."""
    by_place = {(line.offset, line.inner_offset): (line, key) for line, key in pairs}
    result: Decided = {}
    for row in iter_sidecar(archive, stored_file):
        pair = by_place.get((row.offset, row.inner_offset))
        if (
            pair is not None
            and (pair[0].target_uri, pair[0].date) == (row.target_uri, row.date)
            and not row.is_replaced
        ):
            result[row.ordinal] = pair
    return result if len(result) == len(pairs) else None


def annotate(decided: Decided, row: SidecarRow, record: Record) -> SidecarRow:
    """Note in the row of a record that became a revisit what it refers to."""
    line, key = decided.get(row.ordinal, (None, None))
    if line is None or record.type != "revisit" or not is_ours(record.header):
        return row
    uri, date, record_id = record.header.refers_to()
    return row._replace(
        hash_extension=line.hash_extension,
        copy_number=line.copy_number,
        original_key=key,
        refers_uri=uri,
        refers_date=date,
        refers_id=record_id,
    )


def marks_of(decided: Container[int], run: str, row: SidecarRow) -> dict[bytes, bytes]:
    """The cells of a record that became a revisit by these decisions."""
    mark = mark_of(row, run) if row.ordinal in decided else None
    return {DedupeMark.COLUMN: encode_cell(mark)} if mark is not None else {}


def newly_replaced(archive: ArchiveReader, old_file: str, new_file: str) -> set[int]:
    """The ordinals of the records that are revisits in a new generation, and were not in the old.

    Memory: a number for each revisit.
    """

    def replaced(stored_file: str) -> set[int]:
        return {row.ordinal for row in iter_sidecar(archive, stored_file) if row.is_replaced}

    return replaced(new_file) - replaced(old_file)


class RevisitRules(NamedTuple):
    """What all revisits that a run writes have in common."""

    run: str
    min_saving_bytes: int | None


class FileRewriter:
    """Rewrites files of a run, one after the other.  Not for several threads."""

    def __init__(
        self,
        act: Act,
        bodies: StoredFiles,
        files: RunFiles,
        rules: RevisitRules,
        *,
        advance: Advance = no_advance,
    ) -> None:
        """`bodies` are as decided on."""
        duplicates = frozenset(
            (intern(line.file), line.offset, line.inner_offset) for line in files.read_decided()
        )
        self._act = act
        self._bodies = bodies
        self._writer = RevisitWriter(
            OriginalReader(bodies, duplicates).find,
            run=rules.run,
            min_saving_bytes=rules.min_saving_bytes,
        )
        self._advance = advance

    def rewrite(self, task: RewritingTask) -> FileResult[Rewritten]:
        """Rewrite a file, unless it is claimed by another act."""
        return rewrite_file(self._act, task, self._rewrite, self._advance)

    def _rewrite(self, held: Held, task: RewritingTask, done: FileProgress) -> Rewritten:
        act = self._act
        old = read_entry(act.rows, held.archive_file).current
        decided = decided_by_ordinal(act.archive, old.name, task.pairs)
        if decided is None:
            # This run died after the file's move: it has been done.
            return Rewritten(RefsCount(), DONE_ALREADY)
        for line in task.lines:
            if line.original_file is not None:
                self._bodies.add(line.original_file)
        count = RefsCount()

        def parts() -> tuple[Replacements, Check]:
            nonlocal count
            count = RefsCount()
            return replacements, check

        def check(before: Source, after: Source) -> None:
            if not count.records:
                raise AsItIs(Rewritten(count, KEPT_FULL))
            require_records(before, after, count.take_bodies())
            share = before.size / (after.size or 1)
            after.watch(lambda position: done.reached(int(position * share)))

        def replacements(source: Source) -> Iterator[Replacement]:
            replaced = self._writer.replacements(source, task.lines, count)
            return watched(replaced, source, done)

        written = act.rewrite(
            held,
            parts,
            annotate=partial(annotate, decided),
            marks=partial(marks_of, decided, act.name),
        )
        self._bodies.close(held.archive_file)
        return Rewritten(count, size=written.size)


def commit_file(act: Act, outcome: FileOutcome[RefsCount]) -> FileResult[Rewritten]:
    """Make current what a task has written of a file, if anything.

    Any process may repeat any step; so several may commit files at once.
    """
    return take_file(act, outcome, partial(_commit, act))


def _commit(act: Act, held: Held, outcome: WrittenFile[RefsCount]) -> Rewritten:
    written, count = outcome.written, outcome.made
    if not count.records:
        return Rewritten(count, KEPT_FULL)
    if read_entry(act.rows, held.archive_file).generation == written.generation:
        return Rewritten(RefsCount(), DONE_ALREADY)

    def marks() -> MarksOf:
        decided = newly_replaced(act.archive, written.old_name, written.name)
        return partial(marks_of, decided, act.name)

    act.take(
        held,
        written,
        folder=outcome.folder,
        sidecar_sha256=outcome.sidecar_sha256,
        marks=marks,
    )
    return Rewritten(count, size=written.size)

"""One file of a run: its duplicates become revisits, in a new generation that is then current."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from sys import intern
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, Replacements
from pinakes.catalog.file_rows import Held, read_entry, release_claim
from pinakes.dedupe.write.given_back import require_records
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .batches import FileTask
from .decided_records import annotate, decided_by_ordinal, marks_of
from .rewriting_run import Committed
from .run_files import RunFiles
from .run_report import CLAIMED, KEPT_FULL
from .stored_files import StoredFiles


class RevisitRules(NamedTuple):
    """What all revisits that a run writes have in common."""

    run: str
    min_saving_bytes: int | None


Rewrite = Callable[[RevisitRules, Iterable[FileTask], Advance], Iterator[Committed]]
"""Rewrites files of a run, in no order."""
_PASSES = 5
"""Over a file that is rewritten: written, proven by its bytes, by its records, listed, moved."""


class _AllLeftFullError(Exception):
    """No record of a file became a revisit: it stays in its generation."""


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

    def rewrite(self, task: FileTask) -> Committed:
        """Rewrite a file, unless it is claimed by another act."""
        with FileProgress(self._advance, task.size, passes=_PASSES) as done:
            return self._rewrite(task, done)

    def _rewrite(self, task: FileTask, done: FileProgress) -> Committed:
        try:
            held = self._act.claim(task.archive_file)
        except Conflict as problem:
            return Committed(task.archive_file, CLAIMED, problem)
        try:
            committed = self._rewrite_held(held, task, done)
        except (DigestMismatch, InputRefused) as problem:
            committed = Committed(task.archive_file, "failed", problem)
        release_claim(self._act.rows, held)
        return committed

    def _rewrite_held(self, held: Held, task: FileTask, done: FileProgress) -> Committed:
        act = self._act
        old = read_entry(act.rows, held.archive_file).current
        decided = decided_by_ordinal(act.archive, old.name, task.pairs)
        if decided is None:
            # This run died after the file's move: it has been done.
            return Committed(held.archive_file, "done already")
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
                raise _AllLeftFullError
            require_records(before, after, count.take_bodies())
            share = before.size / (after.size or 1)
            after.watch(lambda position: done.reached(int(position * share)))

        def replacements(source: Source) -> Iterator[Replacement]:
            replaced = self._writer.replacements(source, task.lines, count)
            return watched(replaced, source, done)

        try:
            written = act.rewrite(
                held,
                parts,
                annotate=partial(annotate, decided),
                marks=partial(marks_of, decided, act.name),
            )
        except _AllLeftFullError:
            return Committed(held.archive_file, KEPT_FULL, refs=count)
        self._bodies.close(held.archive_file)
        return Committed(held.archive_file, size=written.size, refs=count)

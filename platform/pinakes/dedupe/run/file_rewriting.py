"""One file of a run: its duplicates become revisits, in a new generation that is then current.

Written here, or taken as a task has written it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from sys import intern
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, MarksOf, Replacements
from pinakes.acts.many_files import AsItIs, FileResult, rewrite_file
from pinakes.acts.waves import FileOutcome, WrittenFile, take_file
from pinakes.catalog.file_rows import Held, read_entry
from pinakes.dedupe.write.given_back import require_records
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .decided_records import annotate, decided_by_ordinal, marks_of, newly_replaced
from .rewriting_run import FileTask, Rewritten
from .run_files import RunFiles
from .run_report import DONE_ALREADY, KEPT_FULL
from .stored_files import StoredFiles


class RevisitRules(NamedTuple):
    """What all revisits that a run writes have in common."""

    run: str
    min_saving_bytes: int | None


Rewrite = Callable[[RevisitRules, Iterable[FileTask], Advance], Iterator[FileResult[Rewritten]]]
"""Rewrites files of a run, in no order."""
Commit = Callable[[Act, Iterable[FileOutcome[RefsCount]]], Iterator[FileResult[Rewritten]]]
"""Makes current what a run's tasks have written, in no order."""


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

    def rewrite(self, task: FileTask) -> FileResult[Rewritten]:
        """Rewrite a file, unless it is claimed by another act."""
        return rewrite_file(self._act, task, self._rewrite, self._advance)

    def _rewrite(self, held: Held, task: FileTask, done: FileProgress) -> Rewritten:
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


def commit_files(
    act: Act, outcomes: Iterable[FileOutcome[RefsCount]]
) -> Iterator[FileResult[Rewritten]]:
    """As `commit_file`, one after the other."""
    return map(partial(commit_file, act), outcomes)


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

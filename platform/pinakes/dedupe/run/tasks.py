"""Who does the work of a run on archive files: this process, others, or jobs by a port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Protocol

from pinakes.acts.act import Act
from pinakes.acts.many_files import FileResult
from pinakes.acts.waves import FileOutcome, NotedWave
from pinakes.acts.waves import Tasks as WritingTasks
from pinakes.counts import count_of
from pinakes.dedupe.decide.contents import Batch, Compared
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.validate.file_pairs import Discrepancy
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import DigestMismatch
from pinakes.index.manifest import ManifestLine
from pinakes.warc.file_progress import Advance

from .file_rewriting import RevisitRules, RewritingTask, Rewritten
from .run_files import VALIDATION, RunFiles
from .run_report import DedupeRequest


class RewritingTasks(WritingTasks[RewritingTask, RefsCount], Protocol):
    """Work on the files of one run.

    Names of archive files are those in the catalogue; files are read as the run has decided on
    them."""

    def decide(
        self, lines: Iterable[ManifestLine], decisions: Decisions, *, compare: bool
    ) -> Iterator[ManifestLine]:
        """The duplicates among the lines of a collection, decided; in no order.

        `decisions` is complete when they have been drawn.
        """
        ...

    def validate(self, wave: str) -> Iterator[Discrepancy]:
        """Read what `write` has left once more, together with the files as they are; what is wrong.

        Every record is compared, and every reference followed to its original's body.
        """
        ...


CompareFor = Callable[
    [str, Trust | None, Callable[[int], None], Iterable[Batch]], Iterator[Compared]
]
"""A `Compare` for a run; calls `advance(0)` while it waits."""
Rewrite = Callable[
    [RevisitRules, Iterable[RewritingTask], Advance], Iterator[FileResult[Rewritten]]
]
"""Rewrites files of a run, in no order."""
Commit = Callable[[Act, Iterable[FileOutcome[RefsCount]]], Iterator[FileResult[Rewritten]]]
"""Makes current what a run's tasks have written, in no order."""


class Executors(NamedTuple):
    """Who does the work of a run; None: this process.

    `tasks(act, request, files)` are those of one run, and `commit` commits what they have written;
    without tasks, `compare` compares bodies and `rewrite` rewrites files.
    """

    tasks: Callable[[Act, DedupeRequest, RunFiles], RewritingTasks] | None = None
    commit: Commit | None = None
    compare: CompareFor | None = None
    rewrite: Rewrite | None = None


HERE = Executors()


def require_valid(
    noted: NotedWave, tasks: RewritingTasks, files: RunFiles, at: Callable[[str], None]
) -> None:
    """Have a wave validated, unless it was; one that is wrong is written again, next time.

    Raises DigestMismatch where anything is wrong.
    """
    if noted.is_valid:
        return
    discrepancies = tasks.validate(noted.wave)
    first = next(discrepancies, None)
    if first is None:
        files.note_wave(noted._replace(is_valid=True))
        at("wave validated")
        return
    count = files.write_validation(each._asdict() for each in chain((first,), discrepancies))
    files.forget_wave()
    raise DigestMismatch(
        f"validation: record {first.ordinal}: {first.message}; "
        f"{count_of(count, 'such finding')} in what tasks have written, and none of it is "
        f"committed: see {VALIDATION} of this run",
        file=first.file,
        offset=first.offset,
    )

"""`pinakes dedupe -j N`: processes that rewrite files, or commit what jobs have written of them.

Each has stores and claims of its own.  One that dies ends the run, and the same command goes
on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from typing import Protocol, TypeVar

from pinakes.cli.frame.workers import Died, Workers
from pinakes.config import Configuration
from pinakes.dedupe.run.batches import FileTask
from pinakes.dedupe.run.file_commit import Commit, FileCommitter
from pinakes.dedupe.run.file_rewriting import FileRewriter, RevisitRules, Rewrite
from pinakes.dedupe.run.rewriting_run import Committed
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.stored_files import StoredFiles
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.name_keys import generation_file
from pinakes.ingest.acts import Actor
from pinakes.profile import open_stores


class _OfFile(Protocol):
    @property
    def archive_file(self) -> str: ...


F = TypeVar("F", bound=_OfFile)
R = TypeVar("R")


@contextmanager
def committers(count: int, configuration: Configuration) -> Iterator[Commit | None]:
    """Commits by so many processes; None for one: this one does.

    To be entered before any store is opened, whose threads would be lost in them.
    """
    if count == 1:
        yield None
        return
    with Workers(count, partial(_committing, configuration)) as workers:
        yield partial(_all_done, workers)


@contextmanager
def rewriters(count: int, configuration: Configuration) -> Iterator[Rewrite | None]:
    """Rewrites by so many processes; see `committers`."""
    if count == 1:
        yield None
        return
    with Workers(count, partial(_rewriting, configuration)) as workers:
        yield partial(_all_done, workers)


@contextmanager
def _committing(
    configuration: Configuration,
) -> Iterator[Callable[[tuple[str, FileOutcome]], Committed]]:
    with open_stores(configuration) as stores:
        actor = Actor()

        def commit(task: tuple[str, FileOutcome]) -> Committed:
            run, outcome = task
            claim = partial(actor.claim, stores.rows, act=run)
            committer = FileCommitter(stores.rows, stores.archive, run=run, claim=claim)
            return committer.commit(outcome)

        yield commit


@contextmanager
def _rewriting(
    configuration: Configuration,
) -> Iterator[Callable[[tuple[RevisitRules, FileTask]], Committed]]:
    with open_stores(configuration) as stores, ExitStack() as opened:
        actor = Actor()

        @lru_cache(maxsize=1)
        def rewriter_of(rules: RevisitRules) -> FileRewriter:
            files = RunFiles(stores.runs_folder / rules.run)
            names = {
                name: generation_file(name, number) for name, number in files.generations().items()
            }
            opened.close()  # what the run before this one has left open
            bodies = StoredFiles(stores.archive, names)
            opened.enter_context(bodies)
            claim = partial(actor.claim, stores.rows, act=rules.run)
            return FileRewriter(stores.rows, stores.archive, bodies, files, rules, claim=claim)

        def rewrite(task: tuple[RevisitRules, FileTask]) -> Committed:
            rules, file = task
            return rewriter_of(rules).rewrite(file)

        yield rewrite


def _all_done(
    workers: Workers[tuple[R, F], Committed], of: R, files: Iterable[F]
) -> Iterator[Committed]:
    for file in files:
        while not workers.has_room:
            yield from _done(workers)
        workers.give((of, file))
    while workers.under_way:
        yield from _done(workers)


def _done(workers: Workers[tuple[R, F], Committed]) -> Iterator[Committed]:
    for (_, file), answer in workers.answers():
        if isinstance(answer, Died):
            raise StoreUnavailable(
                "the process that was at work on it has died: the same command goes on",
                file=file.archive_file,
            )
        yield answer

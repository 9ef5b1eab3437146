"""`pinakes dedupe -j N`: processes that compare payloads and rewrite files, or commit what jobs
have written of them.

Each has stores and claims of its own.  One that dies ends the run, and the same command goes
on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.cli.frame.workers import Died, Workers
from pinakes.config import Configuration
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.contents import Batch, Compared, compare_batch
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.batches import FileTask
from pinakes.dedupe.run.collection_runs import HERE, Executors
from pinakes.dedupe.run.file_commit import Commit, FileCommitter
from pinakes.dedupe.run.file_rewriting import FileRewriter, RevisitRules
from pinakes.dedupe.run.rewriting_run import Committed
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.stored_files import StoredFiles
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.errors import StoreUnavailable
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.profile import open_stores
from pinakes.warc.file_progress import Advance

_AHEAD = 2
"""Files that are looked at ahead for each process."""
_WAIT_S = 1.0


class _Comparing(NamedTuple):
    run: str
    trust: Trust | None
    number: int
    batch: Batch


class _Rewriting(NamedTuple):
    rules: RevisitRules
    file: FileTask


RunTask = _Comparing | _Rewriting
RunWorkers = Workers[RunTask, Compared | Committed]
CommitWorkers = Workers[tuple[str, FileOutcome], Committed]


@contextmanager
def committers(count: int, configuration: Configuration) -> Iterator[Commit | None]:
    """Commits by so many processes; None for one: this one does.

    To be entered before any store is opened, whose threads would be lost in them.
    """
    if count == 1:
        yield None
        return
    with Workers(count, partial(_committing, configuration)) as workers:
        yield partial(_committed, workers)


@contextmanager
def run_processes(count: int, configuration: Configuration) -> Iterator[Executors]:
    """Comparing and rewriting by so many processes; see `committers`."""
    if count == 1:
        yield HERE
        return
    with Workers(count, partial(_working, configuration)) as workers:
        yield Executors(
            compare=partial(_compared, workers), rewrite=partial(_rewritten, workers, count)
        )


@contextmanager
def _committing(
    configuration: Configuration, _: Advance
) -> Iterator[Callable[[tuple[str, FileOutcome]], Committed]]:
    with open_stores(configuration) as stores:
        actor = Actor()

        def commit(task: tuple[str, FileOutcome]) -> Committed:
            run, outcome = task
            act = Act(stores.rows, stores.archive, actor, run)
            return FileCommitter(act).commit(outcome)

        yield commit


@contextmanager
def _working(
    configuration: Configuration, advance: Advance
) -> Iterator[Callable[[RunTask], Compared | Committed]]:
    with open_stores(configuration) as stores, ExitStack() as opened:
        actor = Actor()

        @lru_cache(maxsize=1)
        def files_of(run: str) -> tuple[RunFiles, StoredFiles]:
            files = RunFiles(stores.runs_folder / run)
            opened.close()  # what the run before this one has left open
            bodies = StoredFiles(stores.archive, files.generations())
            opened.enter_context(bodies)
            return files, bodies

        @lru_cache(maxsize=1)
        def bodies_of(run: str) -> ArchiveBodies:
            return ArchiveBodies(files_of(run)[1])

        @lru_cache(maxsize=1)
        def rewriter_of(rules: RevisitRules) -> FileRewriter:
            files, _ = files_of(rules.run)
            # Opened anew: what is relied on is read when it is written, and not from a window.
            bodies = StoredFiles(stores.archive, files.generations())
            opened.enter_context(bodies)
            act = Act(stores.rows, stores.archive, actor, rules.run)
            return FileRewriter(act, bodies, files, rules, advance=advance)

        def work(task: RunTask) -> Compared | Committed:
            if isinstance(task, _Rewriting):
                return rewriter_of(task.rules).rewrite(task.file)
            return compare_batch(task.batch, bodies_of(task.run), task.trust, DEFAULT_SPACE)

        yield work


def _compared(
    workers: RunWorkers,
    run: str,
    trust: Trust | None,
    advance: Advance,
    batches: Iterable[Batch],
) -> Iterator[Compared]:
    """What each batch has come to, in order; one that is done early waits for those before it."""
    done: dict[int, Compared] = {}
    due = 0
    tasks = (_Comparing(run, trust, number, batch) for number, batch in enumerate(batches))
    for task, answer in workers.answered(tasks, timeout_s=_WAIT_S, wait=partial(advance, 0)):
        if isinstance(answer, Died):
            raise StoreUnavailable(
                "a process that compared payloads has died: the same command goes on"
            )
        if isinstance(task, _Comparing) and isinstance(answer, Compared):
            done[task.number] = answer
        while due in done:
            yield done.pop(due)
            due += 1


def _rewritten(
    workers: RunWorkers,
    count: int,
    rules: RevisitRules,
    files: Iterable[FileTask],
    advance: Advance,
) -> Iterator[Committed]:
    def tell() -> None:
        advance(workers.advanced())

    tasks = (_Rewriting(rules, file) for file in _largest_first(files, _AHEAD * count))
    for task, answer in workers.answered(tasks, timeout_s=_WAIT_S, wait=tell):
        if isinstance(task, _Rewriting) and isinstance(answer, Died):
            raise _death(task.file.archive_file)
        if isinstance(answer, Committed):
            yield answer
    tell()


def _largest_first(files: Iterable[FileTask], ahead: int) -> Iterator[FileTask]:
    """Always the file of most duplicates among the next few, so that a small one ends last.

    Memory: the duplicates of `ahead` files.
    """
    source = iter(files)
    waiting = list(islice(source, ahead))
    while waiting:
        waiting.sort(key=lambda file: len(file.lines))
        yield waiting.pop()
        waiting += islice(source, 1)


def _committed(
    workers: CommitWorkers, run: str, outcomes: Iterable[FileOutcome]
) -> Iterator[Committed]:
    for (_, outcome), answer in workers.answered((run, outcome) for outcome in outcomes):
        if isinstance(answer, Died):
            raise _death(outcome.archive_file)
        yield answer


def _death(archive_file: str) -> StoreUnavailable:
    return StoreUnavailable(
        "the process that was at work on it has died: the same command goes on",
        file=archive_file,
    )

"""Processes that compare payloads and rewrite files, or commit what jobs have written of them.

Each process has stores and claims of its own.  One that dies ends the run, and the same command
goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.acts.many_files import FileResult
from pinakes.acts.waves import FileOutcome
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.contents import Batch, Compared, compare_batch
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.file_rewriting import (
    FileRewriter,
    RevisitRules,
    RewritingTask,
    Rewritten,
    commit_file,
)
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.tasks import HERE, Executors, RewritingTasks
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import StoreUnavailable
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.warc.file_progress import Advance
from pinakes.workers import Workers, in_order

from .landers import Reopen

_AHEAD = 2
"""Files that are looked at ahead for each process."""
_WAIT_S = 1.0
_DIED = "has died: the same command goes on"


class _Comparing(NamedTuple):
    run: str
    trust: Trust | None
    number: int
    batch: Batch


class _Rewriting(NamedTuple):
    rules: RevisitRules
    file: RewritingTask


class _Committing(NamedTuple):
    run: str
    file: FileOutcome[RefsCount]


_Task = _Comparing | _Rewriting | _Committing
_Workers = Workers[_Task, Compared | FileResult[Rewritten]]


@contextmanager
def executors(
    jobs: int,
    reopen: Reopen,
    tasks: Callable[[Act, DedupeRequest, RunFiles], RewritingTasks] | None = None,
    *,
    is_forked: bool = True,
) -> Iterator[Executors]:
    """Who does the work of runs: so many processes, for 1 this one; `tasks`: jobs do.

    `reopen` opens stores.  To be entered before any store is opened, whose threads would be lost
    in the processes; or with `is_forked` False.
    """
    if jobs == 1:
        yield HERE._replace(tasks=tasks)
        return
    with Workers(jobs, partial(_working, reopen), is_forked=is_forked) as workers:
        yield Executors(
            tasks=tasks,
            commit=partial(_committed, workers),
            compare=partial(_compared, workers),
            rewrite=partial(_rewritten, workers, jobs),
        )


# --- in the processes


@contextmanager
def _working(
    reopen: Reopen, advance: Advance
) -> Iterator[Callable[[_Task], Compared | FileResult[Rewritten]]]:
    with reopen() as stores, ExitStack() as opened:
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
            # Opened again: what is relied on is read when it is written, and not from a window.
            bodies = StoredFiles(stores.archive, files.generations())
            opened.enter_context(bodies)
            act = Act(stores.rows, stores.archive, actor, rules.run)
            return FileRewriter(act, bodies, files, rules, advance=advance)

        def work(task: _Task) -> Compared | FileResult[Rewritten]:
            if isinstance(task, _Rewriting):
                return rewriter_of(task.rules).rewrite(task.file)
            if isinstance(task, _Committing):
                return commit_file(Act(stores.rows, stores.archive, actor, task.run), task.file)
            return compare_batch(task.batch, bodies_of(task.run), task.trust, DEFAULT_SPACE)

        yield work


# --- here


def _compared(
    workers: _Workers,
    run: str,
    trust: Trust | None,
    advance: Advance,
    batches: Iterable[Batch],
) -> Iterator[Compared]:
    """What each batch has come to, in order."""
    tasks = (_Comparing(run, trust, number, batch) for number, batch in enumerate(batches))
    answers = workers.answered(tasks, timeout_s=_WAIT_S, wait=partial(advance, 0))
    yield from in_order(_numbered(task, answer) for task, answer in answers)


def _numbered(task: _Task, answer: object) -> tuple[int, Compared]:
    if not (isinstance(task, _Comparing) and isinstance(answer, Compared)):
        raise StoreUnavailable(f"a process that compared payloads {_DIED}")
    return task.number, answer


def _rewritten(
    workers: _Workers,
    count: int,
    rules: RevisitRules,
    files: Iterable[RewritingTask],
    advance: Advance,
) -> Iterator[FileResult[Rewritten]]:
    def report() -> None:
        advance(workers.advanced())

    largest_first = _largest_first(files, _AHEAD * count)
    yield from _results(workers, (_Rewriting(rules, file) for file in largest_first), report)
    report()


def _committed(
    workers: _Workers, act: Act, files: Iterable[FileOutcome[RefsCount]]
) -> Iterator[FileResult[Rewritten]]:
    yield from _results(workers, (_Committing(act.name, file) for file in files), act.keep)


def _results(
    workers: _Workers, tasks: Iterable[_Rewriting | _Committing], wait: Callable[[], None]
) -> Iterator[FileResult[Rewritten]]:
    for task, answer in workers.answered(tasks, timeout_s=_WAIT_S, wait=wait):
        if isinstance(answer, FileResult):
            yield answer
        elif not isinstance(task, _Comparing):
            raise StoreUnavailable(
                f"the process that was at work on it {_DIED}", file=task.file.archive_file
            )


def _largest_first(files: Iterable[RewritingTask], ahead: int) -> Iterator[RewritingTask]:
    """Always the file of most duplicates among the next few, so that a small one ends last.

    Memory: the duplicates of `ahead` files.
    """
    source = iter(files)
    waiting = list(islice(source, ahead))
    while waiting:
        waiting.sort(key=lambda file: len(file.lines))
        yield waiting.pop()
        waiting += islice(source, 1)

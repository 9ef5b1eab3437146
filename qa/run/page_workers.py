"""What captures and judges the pages of a run: this process, several, or YARN tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pinakes.config import Configuration
from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.profile import open_stores
from pinakes.qa.results import JudgedPair
from pinakes.qa.run.opening import open_judge
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import Pair, RunPlan
from pinakes.qa.sample import SampledPage
from pinakes.warc.file_progress import Advance
from pinakes.workers import Died, Workers

_TRIES = 2


class PageTask(NamedTuple):
    """A page, and its pairs to judge."""

    drawn: SampledPage
    pairs: Sequence[Pair]


class PageResult(NamedTuple):
    """The result for a page; `lost` says why there is none."""

    drawn: SampledPage
    pairs: Sequence[JudgedPair] = ()
    lost: str | None = None


_Planned = tuple[RunPlan, PageTask, int]
"""Plan, page, and the number of the attempt."""

PageWorkers = Callable[[RunPlan, Iterable[PageTask]], Iterator[PageResult]]


@contextmanager
def page_workers(count: int, configuration: Configuration, folder: Path) -> Iterator[PageWorkers]:
    """That many processes; for 1, this process.  Enter before any store is opened.

    A page with which a process dies is given once to another, and is lost if that dies as well.
    """
    if count == 1:
        yield partial(_alone, configuration, folder)
        return
    with Workers(count, partial(_open_work, configuration, folder)) as workers:
        yield partial(_together, workers)


def _alone(
    configuration: Configuration, folder: Path, plan: RunPlan, tasks: Iterable[PageTask]
) -> Iterator[PageResult]:
    with open_stores(configuration) as stores, open_judge(plan, stores, folder) as judge:
        for task in tasks:
            yield _judged(judge, task)


def _judged(judge: PageJudge, task: PageTask) -> PageResult:
    """Damage in a page must not end the run."""
    try:
        return PageResult(task.drawn, judge.judge(task.drawn, task.pairs))
    except (MalformedRecord, DigestMismatch) as error:
        return PageResult(task.drawn, lost=str(error))


@contextmanager
def _open_work(
    configuration: Configuration, folder: Path, advance: Advance
) -> Iterator[Callable[[_Planned], PageResult]]:
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(configuration))
        opened: list[PageJudge] = []

        def work(given: _Planned) -> PageResult:
            plan, task, _ = given
            if not opened:
                opened.append(stack.enter_context(open_judge(plan, stores, folder)))
            return _judged(opened[0], task)

        yield work


def _together(
    workers: Workers[_Planned, PageResult], plan: RunPlan, tasks: Iterable[PageTask]
) -> Iterator[PageResult]:
    for (_, task, tries), answer in workers.answered((plan, task, 1) for task in tasks):
        if not isinstance(answer, Died):
            yield answer
        elif tries < _TRIES:
            workers.give((plan, task, tries + 1))
        else:
            by = f" by signal {answer.signal_number}" if answer.signal_number else ""
            yield PageResult(task.drawn, lost=f"{tries} processes died with this page{by}")

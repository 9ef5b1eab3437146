"""`pinakes dedupe --runner local|hadoop`: the jobs of a run."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pinakes.acts.act import Act
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.store_jobs import OnPercent, job_shown
from pinakes.config import Configuration
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.tasks import Tasks


def tasks_by_jobs(
    runner: str,
    request: DedupeRequest,
    configuration: Configuration,
    act: Act,
    console: Console,
) -> Tasks:
    """The jobs of one run, for which `require_jobs` has found nothing wanting."""
    from pinakes.mr_jobs.store_tasks import StoreTasks  # needs the extra

    def around(job: str) -> AbstractContextManager[OnPercent]:
        return job_shown(job, act, configuration, console)

    tasks = StoreTasks(act.archive, configuration, runner, request, run=act.name, around=around)
    if act.is_resumed:
        tasks.end_orphans()
    return tasks

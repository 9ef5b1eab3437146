"""`pinakes dedupe --runner local|hadoop`: the jobs of a run."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pinakes.catalog.leases import HeldLease
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.store_jobs import OnPercent, job_shown
from pinakes.config import Configuration
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.tasks import Tasks
from pinakes.ingest.acts import Actor
from pinakes.profile import Stores


def tasks_by_jobs(
    runner: str,
    request: DedupeRequest,
    stores: Stores,
    configuration: Configuration,
    lease: HeldLease,
    actor: Actor,
    console: Console,
) -> Tasks:
    """The jobs of one run, for which `require_jobs` has found nothing wanting."""
    from pinakes.mr_jobs.store_tasks import StoreTasks  # needs the extra

    def around(job: str) -> AbstractContextManager[OnPercent]:
        return job_shown(job, lease, configuration, actor, console)

    tasks = StoreTasks(
        stores.archive, configuration, runner, request, run=lease.lease.act, around=around
    )
    if lease.resumed:
        tasks.end_orphans()
    return tasks

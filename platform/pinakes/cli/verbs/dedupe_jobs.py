"""`pinakes dedupe --runner local|hadoop`: a bar for each job, and the lease kept meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinakes.catalog.leases import HeldLease, renew_lease
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.progress import percents
from pinakes.config import Configuration
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.tasks import Tasks
from pinakes.errors import ConfigError, PinakesError
from pinakes.ingest.acts import Actor
from pinakes.profile import Stores, open_stores

RENEW_S = 60.0


def require_jobs(runner: str, configuration: Configuration) -> None:
    """Look at what can be looked at before a run is begun.

    Raises:
        ConfigError: where this runner cannot work with this configuration.
        MissingExtra: without what jobs need.
    """
    if runner == "hadoop" and configuration.profile != "cluster":
        raise ConfigError("--runner hadoop is for profile = cluster: here use inline or local")
    if runner != "inline":
        from pinakes.mr_jobs.driver.submission import require_hadoop

        if runner == "hadoop":
            require_hadoop(configuration)


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

    @contextmanager
    def around(job: str) -> Iterator[Callable[[float], None]]:
        with (
            lease_kept(lease, configuration, actor),
            console.progress(job, total=100, unit="percent") as progress,
        ):
            yield percents(progress)

    tasks = StoreTasks(
        stores.archive, configuration, runner, request, run=lease.lease.act, around=around
    )
    if lease.resumed:
        tasks.end_orphans()
    return tasks


@contextmanager
def lease_kept(
    lease: HeldLease, configuration: Configuration, actor: Actor, *, every_s: float = RENEW_S
) -> Iterator[None]:
    """Renew a lease for the length of a `with`, in which nobody else here can: a job runs.

    Raises:
        Conflict: at the end, where somebody else has taken it.
        StoreUnavailable: at the end, where the row store could not be asked.
    """
    ended = threading.Event()
    trouble: list[PinakesError] = []

    def keep() -> None:
        try:
            # A connection is no matter for two threads.
            with open_stores(configuration) as stores:
                while not ended.wait(every_s):
                    renew_lease(stores.rows, lease, actor.now_ms())
        except PinakesError as problem:
            trouble.append(problem)

    keeper = threading.Thread(target=keep, name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()
    if trouble:
        raise trouble[0]

"""The jobs of an act: each with a bar, while the lease of the act is renewed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor, HeldLease, renew_lease
from pinakes.config import Configuration
from pinakes.errors import PinakesError
from pinakes.profile import open_stores

from .output import Console
from .progress import percents

OnPercent = Callable[[float], None]
_RENEW_S = 60.0


@contextmanager
def job_shown(
    name: str, act: Act, configuration: Configuration, console: Console
) -> Iterator[OnPercent]:
    """Show a bar for the length of a `with`, in which a job runs, and renew the lease.

    The function that it yields takes percents.  Raises as `_lease_kept`.
    """
    with (
        _lease_kept(act.lease, configuration, act.actor),
        console.progress(name, total=100, unit="percent") as progress,
    ):
        yield percents(progress)


@contextmanager
def _lease_kept(lease: HeldLease, configuration: Configuration, actor: Actor) -> Iterator[None]:
    """Renew a lease until the `with` ends: nothing else here can.

    Raises:
        Conflict: at the end, where another process has taken it.
        StoreUnavailable: at the end, where the row store could not be asked.
    """
    ended = threading.Event()
    trouble: list[PinakesError] = []

    def keep() -> None:
        try:
            # A connection is no matter for two threads.
            with open_stores(configuration) as stores:
                while not ended.wait(_RENEW_S):
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

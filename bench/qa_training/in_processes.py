"""One function in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence


def in_processes(work: Callable[..., None], arguments: Sequence[tuple[object, ...]]) -> None:
    """Call it once for each arguments, each in a process of its own; exit if one fails."""
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=work, args=one) for one in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit("a worker failed: see above")

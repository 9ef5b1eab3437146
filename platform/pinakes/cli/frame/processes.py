"""Processes that work at once, and end with the one that asked."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def process_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes are ended, whatever they do, when the block is left early.

    Submit before starting threads: processes are forked at the first submission.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count, mp_context=multiprocessing.get_context("fork"), initializer=_leave_signals
    )
    try:
        yield pool
    except BaseException:
        # The pool notices, and waits for them in `shutdown`.
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_signals() -> None:
    """Ctrl-C reaches the whole group: it is the parent that answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)

"""Processes that work at once, and end with the one that asked."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from pinakes.ending import end_with_parent
from pinakes.errors import StoreUnavailable
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.workers import SharedCounts

_WAIT_S = 0.5
T = TypeVar("T")


@contextmanager
def process_pool(count: int, counts: SharedCounts | None = None) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes are ended, whatever they do, when the block is left early.

    Submit before starting threads: processes are forked at the first submission.  `counts` are
    theirs to count up: `advance_of` gives each its number.
    """
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(os.getpid(), counts),
    )
    try:
        yield pool
    except BrokenProcessPool as error:
        raise StoreUnavailable(
            "a process ended early (killed, or out of memory): nothing was written; run again"
        ) from error
    except BaseException:
        # The pool notices, and waits for them in `shutdown`.
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def result_of(future: Future[T], waiting: Callable[[], None]) -> T:
    """What it comes to; `waiting` is called a few times a second until then."""
    while not wait([future], _WAIT_S).done:
        waiting()
    return future.result()


def advance_of(number: int) -> Advance:
    """In a process of a pool: what counts up this number of its `counts`."""
    return no_advance if _counts is None else _counts.of(number)


_counts: SharedCounts | None = None
"""In a process of a pool: those that it was forked with."""


def _begin(parent: int, counts: SharedCounts | None) -> None:
    """Ctrl-C reaches the whole group: it is the parent that answers."""
    global _counts  # noqa: PLW0603  a task cannot carry memory that is shared
    _counts = counts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    end_with_parent(parent)

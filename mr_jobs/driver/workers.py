"""The processes in which mrjob's runner `local` watches its tasks, when one of these has failed.

They are forked from ours, and ended by SIGTERM.  Ours raises then, so that a traceback of each
of them would be printed around the one line that says what is wrong; and they must not die at
once either, or their tasks would be left behind.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import register_after_fork


class _Lifetime:
    """What the registration lives as long as."""


@contextmanager
def quiet_workers() -> Iterator[None]:
    """While this lasts, processes that are forked by multiprocessing leave by `SystemExit`."""
    lifetime = _Lifetime()
    register_after_fork(lifetime, _leave_quietly)
    yield


def _leave_quietly(_: object) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))

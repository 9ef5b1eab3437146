"""The processes in which mrjob's runner `local` watches its tasks, when something has gone wrong.

They are forked from ours, and end their tasks as they leave.  When a task has failed, they get
SIGTERM while ours raises: a traceback of each would be printed around the one line that says what
is wrong; and if they died at once, their tasks would be left behind.  So it is when ours is
killed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.util import register_after_fork

from pinakes.ending import end_with_parent, leave_when_told


class _Lifetime:
    """What the registration lives as long as."""


@contextmanager
def tied_workers() -> Iterator[None]:
    """While this lasts, multiprocessing forks, and what it forks ends with our process.

    They leave by `SystemExit`.  From Python 3.14 on a server would start them, which knows
    nothing of us; mrjob asks for no method.
    """
    lifetime = _Lifetime()
    register_after_fork(lifetime, partial(_tie, os.getpid()))
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


def _tie(parent: int, _: object) -> None:
    leave_when_told()
    end_with_parent(parent)

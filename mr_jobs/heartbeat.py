"""Reports to the framework that a task is working, while one record takes an hour.

Hadoop kills a task that is silent for ten minutes (`mapreduce.task.timeout`).  A thread reports
every 30 s, but only if there was progress since: a hanging task is still killed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

EVERY_S = 30.0


class Heartbeat:
    """Reports progress regularly; a context manager."""

    def __init__(self, say: Callable[[str], None], *, every_s: float = EVERY_S) -> None:
        """`say` is called from another thread."""
        self._say = say
        self._every_s = every_s
        self._done = 0
        self._measure: Callable[[], int] = lambda: 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def watch(self, measure: Callable[[], int]) -> None:
        """Call `measure` for the progress of the current work; earlier work is added."""
        self._done += self._measure()
        self._measure = measure

    @property
    def done(self) -> int:
        """The progress of all work together."""
        return self._done + self._measure()

    def _run(self) -> None:
        reported = 0
        while not self._ended.wait(self._every_s):
            done = self.done
            if done != reported:
                self._say(f"{done:,} bytes")
                reported = done

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

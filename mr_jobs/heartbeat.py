"""Telling the framework that a task is at work, while one record of it takes an hour.

Hadoop kills a task that says nothing for ten minutes (`mapreduce.task.timeout`).  A thread
says so every 30 s, but only where something has been done since: what hangs is still killed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

EVERY_S = 30.0


class Heartbeat:
    """Says how much was done, again and again; a context manager."""

    def __init__(
        self, say: Callable[[str], None], *, unit: str = "bytes", every_s: float = EVERY_S
    ) -> None:
        """`say` is called from another thread."""
        self._say = say
        self._unit = unit
        self._every_s = every_s
        self._done = 0
        self._measure: Callable[[], int] = lambda: 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def watch(self, measure: Callable[[], int]) -> None:
        """Ask this how much of the present work is done; what was done before is added up."""
        self._done += self._measure()
        self._measure = measure

    @property
    def done(self) -> int:
        """How much has been done, all works together."""
        return self._done + self._measure()

    def _run(self) -> None:
        told = 0
        while not self._ended.wait(self._every_s):
            done = self.done
            if done != told:
                self._say(f"{done:,} {self._unit}")
                told = done

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

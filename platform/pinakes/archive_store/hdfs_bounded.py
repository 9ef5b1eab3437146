"""A bound on how long hdfs-native may take, which of itself waits for ever.

It has no time-out for what it asks of a name node, and a sync was seen not to return where a
data node had been killed.  So another thread calls; one that does not come back in time is
left behind, until it does or the process ends.  Threads are kept for the next call: to start
one takes as long as a short call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from pinakes.waiting import NOTICE_AFTER_S, Waiting

T = TypeVar("T")


class Bounded:
    """Calls in threads of its own.  For several threads, and across forks."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._idle: list[_Caller] = []
        self._pid = os.getpid()

    def call(self, act: Callable[[], T], patience_s: float) -> T:
        """What `act` returns or raises; TimeoutError where it does neither in time.

        `waiting` is told of one that takes long.
        """
        if self._pid != os.getpid():  # a forked process has none of these threads
            self._idle, self._pid = [], os.getpid()
        try:
            caller = self._idle.pop()
        except IndexError:  # asked first, another thread might be quicker
            caller = _Caller()
        caller.given.put(act)
        result: T
        try:
            try:
                result, error = caller.answers.get(timeout=min(NOTICE_AFTER_S, patience_s))
            except Empty:
                self._waiting.tell(NOTICE_AFTER_S, "it has not answered yet")
                left_s = max(0.0, patience_s - NOTICE_AFTER_S)
                result, error = caller.answers.get(timeout=left_s)
        except Empty:
            caller.given.put(None)
            raise TimeoutError(f"no answer in {patience_s:g} s") from None
        self._idle.append(caller)
        if error is None:
            return result
        try:
            raise error
        finally:
            del error  # else it and this frame, and all that it came through, would stay

    def close(self) -> None:
        """End the threads that wait; a later call starts others."""
        idle, self._idle = self._idle, []
        for caller in idle:
            caller.given.put(None)


class _Caller:
    """A thread that does what it is given, one after another, until that is None."""

    def __init__(self) -> None:
        self.given: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self.answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while (act := self.given.get()) is not None:
            try:
                self.answers.put((act(), None))
            except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
                self.answers.put((None, error))
            del act

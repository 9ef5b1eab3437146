"""Time-outs for calls of hdfs-native, which has none of its own.

It waits for ever for a name node's answer, and a sync was seen not to return after a data node
was killed.  So calls run in other threads; a thread that does not return in time is abandoned.
Threads are kept for later calls: starting one takes as long as a short call.
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
    """Runs calls in threads of its own.  Safe for several threads, and across forks."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._idle: list[_Caller] = []
        self._pid = os.getpid()

    def call(self, act: Callable[[], T], patience_s: float) -> T:
        """Return or raise what `act` does; raise TimeoutError after `patience_s`.

        `waiting` logs a call that takes long.
        """
        if self._pid != os.getpid():  # a forked process does not have these threads
            self._idle, self._pid = [], os.getpid()
        try:
            caller = self._idle.pop()
        except IndexError:  # no `if` before it: another thread may take the last one
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
            del error  # else a reference cycle would keep this frame and its callers alive

    def close(self) -> None:
        """End the idle threads; a later call starts others."""
        idle, self._idle = self._idle, []
        for caller in idle:
            caller.given.put(None)


class _Caller:
    """A thread that runs the calls it is given, one after another, until one is None."""

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

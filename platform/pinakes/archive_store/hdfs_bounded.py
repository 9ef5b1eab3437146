"""A bound on how long hdfs-native may take, which of itself waits for ever.

It has no time-out for what it asks of a name node, and a sync was seen not to return where a
data node had been killed.  So another thread calls; one that does not come back in time is
left behind, until it does or the process ends.  Threads are kept for the next call: to start
one takes as long as a short call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Bounded:
    """Calls in threads of its own.  For several threads, and across forks."""

    def __init__(self) -> None:
        self._idle: list[_Caller] = []
        self._pid = os.getpid()

    def call(self, act: Callable[[], T], patience_s: float) -> T:
        """What `act` returns or raises; TimeoutError where it does neither in time."""
        if self._pid != os.getpid():  # a forked process has none of these threads
            self._idle, self._pid = [], os.getpid()
        try:
            caller = self._idle.pop()
        except IndexError:  # asked first, another thread might be quicker
            caller = _Caller()
        done = caller.have_done(act)
        try:
            done.exception(patience_s)
        except FutureTimeoutError:  # before 3.11, no OSError
            caller.end()
            raise TimeoutError(f"no answer in {patience_s:g} s") from None
        self._idle.append(caller)
        try:
            return done.result()
        finally:
            del done  # else it and its error, with all their frames, would hold each other

    def close(self) -> None:
        """End the threads that wait; a later call starts others."""
        idle, self._idle = self._idle, []
        for caller in idle:
            caller.end()


class _Caller:
    """A thread that does one thing after another."""

    def __init__(self) -> None:
        self._given: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def have_done(self, act: Callable[[], T]) -> Future[T]:
        done: Future[T] = Future()
        self._given.put((act, done))
        return done

    def end(self) -> None:
        """End it when it comes to that."""
        self._given.put(None)

    def _run(self) -> None:
        while (given := self._given.get()) is not None:
            act, done = given
            try:
                done.set_result(act())
            except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
                done.set_exception(error)
            del given, act, done

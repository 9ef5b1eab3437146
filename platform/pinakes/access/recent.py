"""Caches the latest answer to a query that is costly, or may hang.

Callers get the latest answer and its age, and wait no longer than they choose: so pages and health
checks work even if a store hangs.  The query runs in one thread, only on demand, and for a small
share of the time at most.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedState(Generic[T_co]):
    """The cached state.

    `value` is the latest answer, `age_s` the time since it was requested, `took_s` its
    duration; None until there is one.  `error` is why the latest finished attempt failed.
    `asking_s` is how long the current attempt has been running.
    """

    value: T_co | None = None
    age_s: float | None = None
    took_s: float | None = None
    error: str | None = None
    asking_s: float | None = None


class Recent(Generic[T]):
    """Runs a query in its own thread, at least `every_s` apart, for a `share` of the time."""

    def __init__(
        self,
        ask: Callable[[], T],
        *,
        every_s: float,
        share: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._every_s = every_s
        self._share = share
        self._clock = clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted = self._closed = False
        self._began_s: float | None = None
        self._due_s = float("-inf")
        self._answer: tuple[T, float, float] | None = None
        self._error: str | None = None

    def look(self, wait_s: float = 0.0) -> CachedState[T]:
        """The cached state; refreshes it if due, waiting for that at most `wait_s`."""
        with self._changed:
            if self._closed:
                return self._read()
            if self._began_s is None and self._clock() >= self._due_s:
                self._wanted = True
                self._start()
                self._changed.notify_all()
            self._changed.wait_for(lambda: not self._wanted and self._began_s is None, wait_s)
            return self._read()

    def close(self, wait_s: float) -> bool:
        """Stop querying; return whether no query is running."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(wait_s)
        return self._thread is None or not self._thread.is_alive()

    def _start(self) -> None:
        if self._thread is None:
            # A daemon thread: a hanging store must not keep the process from ending.
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._closed)
                if self._closed:
                    return
                self._wanted = False
                self._began_s = began_s = self._clock()
            answer, error = self._attempt()
            with self._changed:
                now_s = self._clock()
                took_s = now_s - began_s
                if answer is not None:
                    self._answer = (answer, began_s, took_s)
                self._error = error
                self._due_s = max(began_s + self._every_s, now_s + took_s * (1 / self._share - 1))
                self._began_s = None
                self._changed.notify_all()

    def _attempt(self) -> tuple[T | None, str | None]:
        try:
            return self._ask(), None
        except Exception as error:  # noqa: BLE001 (shown to the reader of the page)
            return None, str(error) or type(error).__name__

    def _read(self) -> CachedState[T]:
        now_s = self._clock()
        asking_s = None if self._began_s is None else now_s - self._began_s
        if self._answer is None:
            return CachedState(error=self._error, asking_s=asking_s)
        value, began_s, took_s = self._answer
        return CachedState(
            value=value,
            age_s=now_s - began_s,
            took_s=took_s,
            error=self._error,
            asking_s=asking_s,
        )

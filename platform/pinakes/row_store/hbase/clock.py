"""The store's clock, as estimated by a client.

Present cells have the store's timestamps.  If HBase assigned them, a put that is repeated after a
time-out, or done late by a server that had hung, would get a later timestamp than puts that
followed it, and hide them.  So the adapter assigns them, by HBase's clock instead of its own: it
puts a cell, reads its timestamp, and counts from there.  The result is an interval as wide as the
duration of that call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import ceil

from pinakes.errors import StoreUnavailable

ASKED_ANEW_S = 60.0
TRIES = 3


class StoreClock:
    """HBase's time in milliseconds, between `earliest_ms` and `latest_ms`."""

    def __init__(
        self,
        ask: Callable[[], int],
        *,
        retry_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._ask = ask
        self._retry_s = retry_s
        self._monotonic_s = monotonic_s
        self._sleep = sleep
        self._lock = threading.Lock()
        self._asked_s: float | None = None
        self._earliest_at_0 = self._latest_at_0 = self._last_ms = 0.0

    def next_ms(self, later_than_ms: int = 0) -> int:
        """A time not before HBase's, and later than the last one returned and `later_than_ms`."""
        with self._lock:
            self._be_sure()
            now_ms = ceil(self._latest_at_0 + 1000 * self._monotonic_s())
            self._last_ms = max(now_ms, self._last_ms + 1, later_than_ms + 1)
            return int(self._last_ms)

    def wait_past(self, time_ms: int) -> None:
        """Return when HBase's clock is certainly past a time.

        Raises StoreUnavailable if the time is too far ahead: a server's clock is wrong.
        """
        with self._lock:
            self._be_sure()
            ahead_s = (time_ms + 1 - self._earliest_at_0) / 1000 - self._monotonic_s()
        if ahead_s > self._retry_s:
            raise StoreUnavailable(
                f"a cell in HBase is {ahead_s:.0f} s ahead of HBase's clock: synchronise the clocks"
                " of its servers"
            )
        if ahead_s > 0:
            self._sleep(ahead_s)

    def _be_sure(self) -> None:
        """Ask HBase, if never asked or some time ago; use the fastest of a few answers."""
        now_s = self._monotonic_s()
        if self._asked_s is not None and now_s < self._asked_s + ASKED_ANEW_S:
            return
        narrowest: float | None = None
        for _ in range(TRIES):
            before_s = self._monotonic_s()
            store_ms = self._ask()
            after_s = self._monotonic_s()
            if narrowest is None or after_s - before_s < narrowest:
                narrowest = after_s - before_s
                self._earliest_at_0 = store_ms - 1000 * after_s
                self._latest_at_0 = store_ms + 1 - 1000 * before_s
        self._asked_s = now_s

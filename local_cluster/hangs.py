"""Detects hanging servers: they run, have all that they need, and still do not work.

Pure.  A server that is only slow must never count as hanging.  So a server hangs only if both hold:

- its process is older than `Slowness.starting_s`: a server just started is waited for;
- in every check for as long as `timeout_s`, and at least `Slowness.not_ready_s`, it was not
  ready while every server of an earlier step was: a server may wait for one that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local_cluster.processes import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowness:
    """How slow a server may be without counting as hanging."""

    starting_s: float = 600.0
    not_ready_s: float = 180.0


SLOW = Slowness()


class HangWatch:
    """Remembers which servers were not ready, from one check to the next.

    Times are from a monotonic clock, such as `time.monotonic`.
    """

    def __init__(self, *, timeout_s: float, slow: Slowness = SLOW) -> None:
        self.timeout_s = max(timeout_s, slow.not_ready_s)
        self._starting_s = slow.starting_s
        self._since_s: dict[Identity, float] = {}

    def look(self, stuck: Mapping[Identity, float], now_s: float) -> list[Identity]:
        """The hanging ones among `stuck`, the servers that block the rest, with their ages in s.

        A server not in `stuck` this time is ready, gone, or waits for another: it starts over.
        """
        self._since_s = {who: self._since_s.get(who, now_s) for who in stuck}
        return [
            who
            for who, since_s in self._since_s.items()
            if now_s - since_s >= self.timeout_s and stuck[who] >= self._starting_s
        ]

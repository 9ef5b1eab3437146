"""Which servers hang: they run, have all that they need, and still do not do their work.

Pure.  What is merely slow must never be taken for it.  So a server hangs only where both hold:

- its process is older than `Slowness.starting_s`: what has just been started is waited for;
- whenever it was looked at, for as long as patience and at least `Slowness.not_ready_s`, it was
  not ready while every server of an earlier step was: a server may wait for one that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pinakes.cluster.processes import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowness:
    """How slow a server may be that does not hang."""

    starting_s: float = 600.0
    not_ready_s: float = 180.0


SLOW = Slowness()


class HangWatch:
    """What was seen of servers that are not ready, from one look to the next.

    Times are of one clock that never goes back, such as `time.monotonic`.
    """

    def __init__(self, *, patience_s: float, slow: Slowness = SLOW) -> None:
        self.patience_s = max(patience_s, slow.not_ready_s)
        self._starting_s = slow.starting_s
        self._since_s: dict[Identity, float] = {}

    def look(self, stuck: Mapping[Identity, float], now_s: float) -> list[Identity]:
        """Those that hang, of the servers that alone keep the rest waiting, with their ages in s.

        Whoever is not among them this time is ready, gone, or waits for another: it begins anew.
        """
        self._since_s = {who: self._since_s.get(who, now_s) for who in stuck}
        return [
            who
            for who, since_s in self._since_s.items()
            if now_s - since_s >= self.patience_s and stuck[who] >= self._starting_s
        ]

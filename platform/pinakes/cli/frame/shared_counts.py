"""How far several processes are: numbers in memory that they share with the one that asked.

Each number is counted up by one process, without a lock and without a message: nobody waits for
anybody, and one that is killed leaves its number as it is.
"""

from __future__ import annotations

from ctypes import c_int64
from dataclasses import dataclass
from multiprocessing.sharedctypes import RawArray
from typing import Any


@dataclass(frozen=True, slots=True)
class SharedCount:
    """One of the numbers: an `Advance`, for one process at a time."""

    counts: Any
    number: int

    def __call__(self, count: int) -> None:
        self.counts[self.number] += count


class SharedCounts:
    """So many numbers, from 0.  A process has them by being forked, or given one at its start."""

    def __init__(self, size: int) -> None:
        self._counts = RawArray(c_int64, size)
        self._told = 0

    def of(self, number: int) -> SharedCount:
        """What counts up this number."""
        return SharedCount(self._counts, number)

    def counted(self) -> int:
        """How much was counted since this was asked last."""
        total = sum(self._counts)
        fresh, self._told = total - self._told, total
        return fresh

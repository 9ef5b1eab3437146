"""How fast an ingest is, from what it says of itself, by its own clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pinakes.catalog.run_rows import RunEntry
from pinakes.ingest.tally import BYTES, RECORDS

WINDOW_MS = 60_000


class Rate(NamedTuple):
    """Records and bytes landed a second; files count when they have landed."""

    records_s: float = 0.0
    bytes_s: float = 0.0


class _Sample(NamedTuple):
    at_ms: int
    records: int
    size: int


class Rates:
    """Remembers what each run had counted, over the last minute or the last two reports."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[_Sample]] = {}

    def rate_of(self, entry: RunEntry) -> Rate:
        """The rate between the oldest report that is remembered and the one in this row.

        Until there are two, that since the run began.
        """
        progress = entry.progress
        if progress is None:
            return Rate()
        sample = _Sample(
            progress.at_ms, progress.counts.get(RECORDS, 0), progress.counts.get(BYTES, 0)
        )
        samples = self._samples.setdefault(entry.run, deque())
        if not samples or samples[-1].at_ms < sample.at_ms:
            samples.append(sample)
        while len(samples) > 2 and samples[1].at_ms <= sample.at_ms - WINDOW_MS:
            samples.popleft()
        first = samples[0] if len(samples) > 1 else _Sample(entry.facts.act_time_ms, 0, 0)
        seconds = (sample.at_ms - first.at_ms) / 1000
        if seconds <= 0:
            return Rate()
        return Rate(
            (sample.records - first.records) / seconds, (sample.size - first.size) / seconds
        )

    def keep(self, runs: AbstractSet[str]) -> None:
        """Forget all other runs."""
        for run in self._samples.keys() - runs:
            del self._samples[run]

"""Rates of ingests, from their own reports and clocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pinakes.catalog.run_rows import RunEntry
from pinakes.ingest.tally import BYTES, RECORDS

WINDOW_MS = 60_000


class Rate(NamedTuple):
    """Records and bytes landed per second; files count when they have landed."""

    records_s: float = 0.0
    bytes_s: float = 0.0


class _Sample(NamedTuple):
    at_ms: int
    records: int
    size: int


class Rates:
    """Remembers the counts of each run over the last minute, or the last two reports."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[_Sample]] = {}

    def rate_of(self, entry: RunEntry) -> Rate:
        """The rate between the oldest remembered report and the one in this row.

        Before the second report: the rate since the start of the run.
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

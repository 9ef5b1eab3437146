"""What a run tells of how far it is, kept."""

from __future__ import annotations


class Shown:
    """The steps with their totals, and the counts of each."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int]] = []
        self.counts: list[list[int]] = []

    def begin(self, step: str, total_bytes: int) -> None:
        """The step before is done, and another begins."""
        self.steps.append((step, total_bytes))
        self.counts.append([])

    def advance(self, count: int) -> None:
        """So many more bytes are done."""
        self.counts[-1].append(count)

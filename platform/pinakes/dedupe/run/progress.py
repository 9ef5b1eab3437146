"""How far a run is: step by step, each with its total, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

STORE_STEPS = ("reading sidecars", "comparing payloads", "marking originals", "rewriting files")
"""Of a run over a store.  By jobs, the second and the last are steps of the jobs' own."""

FILES_STEPS = ("reading files", "comparing payloads", "rewriting files", "validating")
"""Of a run on files."""

COUNTING = "counting what would be saved"
"""Of a run on files that writes none: its last step."""


class RunProgress(Protocol):
    """What a run tells of how far it is; totals and counts are bytes of archive files."""

    def begin(self, step: str, total_bytes: int) -> None:
        """The step before is done, and another begins."""
        ...

    def advance(self, count: int) -> None:
        """So many more bytes are done; 0: still at work."""
        ...


class Unwatched:
    """Nobody looks on."""

    def begin(self, step: str, total_bytes: int) -> None:
        pass

    def advance(self, count: int) -> None:
        pass


UNWATCHED: RunProgress = Unwatched()


def numbered(steps: tuple[str, ...]) -> Callable[[int], str]:
    """What the step of this number, from 1, is called: `step 2 of 4, comparing payloads`."""
    return lambda number: f"step {number} of {len(steps)}, {steps[number - 1]}"


store_step = numbered(STORE_STEPS)
files_step = numbered(FILES_STEPS)

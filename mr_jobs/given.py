"""The operator's inputs of a job, before they become the lines that its maps read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInputs:
    """Inputs, as named; `stored`: they are names of files in the store.

    `originals` is a folder with further full records that references may resolve to.
    """

    inputs: Sequence[str]
    stored: bool = False
    originals: str | None = None

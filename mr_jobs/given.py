"""What the operator gives a job, before it is made lines of that its maps read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Inputs, as named; `stored`: they are names of files in the store.

    `originals` is a folder with further full records that references may mean.
    """

    inputs: Sequence[str]
    stored: bool = False
    originals: str | None = None

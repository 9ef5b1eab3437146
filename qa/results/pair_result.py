"""The result for a pair of views of one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pinakes.qa.snapshot import Outcome


class Verdict(str, Enum):
    """What the model says of a pair."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"
    UNCERTAIN = "uncertain"

    @property
    def gravity(self) -> int:
        """The graver, the higher."""
        return _GRAVITY[self]


_GRAVITY = {Verdict.SIMILAR: 0, Verdict.UNCERTAIN: 1, Verdict.DISSIMILAR: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One of the two: where the page came from, and in what it was looked at.

    `kind` is `replay:GENERATION`, `access:URL-PREFIX`, `stored` or `live`.
    """

    kind: str
    browser: str
    """Its name in the list; empty where no browser showed it."""
    browser_version: str
    outcome: Outcome
    milliseconds: int
    image: str | None = None
    """The name of its screenshot, beside the result."""
    reasons: tuple[str, ...] = ()
    """Why the outcome is not `complete`."""
    missed: tuple[str, ...] = ()
    """URLs that the page asked for, and the archive has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """Of one page: its reference, what was compared with it, and what came of that.

    `date` is the capture's WARC-Date to the second, UTC, whatever it was written as;
    `capture_key` its row key, in hexadecimal.
    `confidence` is between 0 and 1; `model` names the model and its version.
    """

    run: str
    url: str
    date: str
    capture_key: str
    reference: View
    other: View
    verdict: Verdict
    confidence: float
    model: str
    features: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    changes: tuple[tuple[int, int, int, int], ...] = ()
    """Where the images differ most: x, y, width, height in pixels of the other's image."""
    milliseconds: int = 0
    """What comparing took."""

"""The result for a pair of views of one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pinakes.qa.snapshot import Outcome

UNSEEN = "nothing of it is to be seen in the images and the text"
"""The reason of a pair whose harm is proven by bytes and changes nothing that is looked at."""

_PROOF = "proof "


class Verdict(str, Enum):
    """The verdict on a pair."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"
    UNCERTAIN = "uncertain"
    BY_BROWSER = "differs-by-browser"
    """Two browsers draw otherwise what both were sent: no harm of the archive."""

    @property
    def gravity(self) -> int:
        """Higher is worse."""
        return _GRAVITY[self]

    @property
    def is_alarm(self) -> bool:
        """Whether the archive may have a fault here, so that somebody should look."""
        return self in (Verdict.DISSIMILAR, Verdict.UNCERTAIN)


_GRAVITY = {
    Verdict.SIMILAR: 0,
    Verdict.BY_BROWSER: 1,
    Verdict.UNCERTAIN: 2,
    Verdict.DISSIMILAR: 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One of the two views: where the page came from, and the browser that captured it.

    `kind` is `replay:GENERATION`, `access:URL-PREFIX`, `stored` or `live`.
    """

    kind: str
    browser: str
    """Its name in the list; empty for none."""
    browser_version: str
    outcome: Outcome
    milliseconds: int
    image: str | None = None
    """The name of its image file, beside the result."""
    reasons: tuple[str, ...] = ()
    """Why the outcome is not `complete`."""
    missed: tuple[str, ...] = ()
    """URLs that the page requested and the archive does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """The result for one page: its reference, the other view, the verdict and its reasons.

    `date` is the capture's WARC-Date to the second, in UTC; `capture_key` its row key, in
    hexadecimal.
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
    """Where the images differ most: x, y, width, height in pixels of the other view's image."""
    milliseconds: int = 0
    """The time of the comparison."""

    @property
    def is_proven(self) -> bool:
        """Whether the verdict rests on the bytes that were sent, and on no look."""
        return self.confidence == 1 and self.model.startswith(_PROOF)

"""Seconds as a + b·n: a straight line through what was measured, and how straight it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """`fixed` is a, `slope` is b; `least` and `most` are b between neighbours."""

    fixed: float
    slope: float
    least: float
    most: float

    @property
    def spread(self) -> float:
        """How far b between neighbours is from b, at most, as a part of it."""
        furthest = max(abs(self.most - self.slope), abs(self.least - self.slope))
        return furthest / abs(self.slope) if self.slope else 0.0


def fit(points: Sequence[tuple[float, float]]) -> Fit:
    """The line through (n, seconds), so that the sum of squared *relative* errors is least.

    Sizes go up tenfold: squares of seconds would ask the largest one alone.  Needs two sizes.
    """
    ordered = sorted(points)
    weights = [1 / (seconds * seconds) for _, seconds in ordered]
    total = sum(weights)
    mean_n = sum(w * n for w, (n, _) in zip(weights, ordered, strict=True)) / total
    mean_s = sum(w * s for w, (_, s) in zip(weights, ordered, strict=True)) / total
    pairs = [(w, n - mean_n, s - mean_s) for w, (n, s) in zip(weights, ordered, strict=True)]
    slope = sum(w * n * s for w, n, s in pairs) / sum(w * n * n for w, n, _ in pairs)
    between = [(t - s) / (m - n) for (n, s), (m, t) in pairwise(ordered) if m != n]
    return Fit(fixed=mean_s - slope * mean_n, slope=slope, least=min(between), most=max(between))

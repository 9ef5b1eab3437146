"""The time between a capture and the view it is compared with, and how it limits a verdict.

Pure.
"""

from __future__ import annotations

from datetime import timedelta

from pinakes.counts import count_of
from pinakes.qa.results.pair_result import Verdict

CHANGED_AFTER = timedelta(days=2)
"""After that time most pages of the web have changed."""
CHANGED = "changed? the live page differs, which may not be a fault of the archive"
CHANGED_SHOT = "changed? the screenshot was taken at another time"
_CHANGED = {"live": CHANGED, "stored": CHANGED_SHOT}
"""By the kind of a side whose time may differ from the capture's."""


def describe_gap(gap: timedelta) -> str:
    """`live, 12 days after the capture`: whole days, or hours if less than a day."""
    days, hours = gap.days, gap.seconds // 3600
    if gap < timedelta(0):
        return "live, before the time of the capture: one of the clocks is wrong"
    if days:
        return f"live, {count_of(days, 'day')} after the capture"
    return f"live, {count_of(hours, 'hour')} after the capture"


def verdict_given_gap(kind: str, verdict: Verdict, gap: timedelta) -> tuple[Verdict, str | None]:
    """The verdict on a pair with a side of that kind, and why it was changed, if it was.

    `gap` is the time of that side minus the capture's.  After a large gap a difference may be a
    change of the page: uncertain.  A replay has no gap, and keeps its verdict.
    """
    why = _CHANGED.get(kind)
    if why is not None and verdict is Verdict.DISSIMILAR and abs(gap) > CHANGED_AFTER:
        return Verdict.UNCERTAIN, why
    return verdict, None

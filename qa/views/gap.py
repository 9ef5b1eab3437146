"""The time between a capture and what it is compared with, and what a verdict is worth then.

Pure.
"""

from __future__ import annotations

from datetime import timedelta

from pinakes.qa.results.pair_result import Verdict

CHANGED_AFTER = timedelta(days=2)
"""A page of the web is another by then, as a rule; before, it may be."""
CHANGED = "changed? the live page is another; that is no fault of the archive"
CHANGED_SHOT = "changed? the screenshot is of another time"
_CHANGED = {"live": CHANGED, "stored": CHANGED_SHOT}
"""By the kind of a side that may be of another time than the capture."""


def describe_gap(gap: timedelta) -> str:
    """`live, 12 days after the capture`: whole days, or hours where there is none."""
    days, hours = gap.days, gap.seconds // 3600
    if gap < timedelta(0):
        return "live, before the time of the capture: a clock is wrong"
    if days:
        return f"live, {days:,} {'day' if days == 1 else 'days'} after the capture"
    return f"live, {hours} {'hour' if hours == 1 else 'hours'} after the capture"


def verdict_given_gap(kind: str, verdict: Verdict, gap: timedelta) -> tuple[Verdict, str | None]:
    """The verdict on a pair one side of which is of that kind, and why it is another now.

    `gap` is the time of that side less the capture's.  What differs may have changed in it:
    behind a large one that is all that can be said.  A replay has none, and keeps its verdict.
    """
    why = _CHANGED.get(kind)
    if why is not None and verdict is Verdict.DISSIMILAR and abs(gap) > CHANGED_AFTER:
        return Verdict.UNCERTAIN, why
    return verdict, None

"""The time between a capture and now, and what a verdict on the live web is worth behind it.

Pure.
"""

from __future__ import annotations

from datetime import timedelta

from pinakes.qa.results.pair_result import Verdict

CHANGED_AFTER = timedelta(days=2)
"""A page of the web is another by then, as a rule; before, it may be."""
CHANGED = "changed? the live page is another; that is no fault of the archive"


def gap_in_words(gap: timedelta) -> str:
    """`live, 12 days after the capture`: whole days, or hours where there is none."""
    days, hours = gap.days, gap.seconds // 3600
    if gap < timedelta(0):
        return "live, before the time of the capture: a clock is wrong"
    if days:
        return f"live, {days:,} {'day' if days == 1 else 'days'} after the capture"
    return f"live, {hours} {'hour' if hours == 1 else 'hours'} after the capture"


def verdict_on_live(verdict: Verdict, gap: timedelta) -> tuple[Verdict, str | None]:
    """The verdict on a pair whose one side is the live web, and why it is another now.

    What differs may have changed since: behind a large gap that is all that can be said.
    """
    if verdict is Verdict.DISSIMILAR and abs(gap) > CHANGED_AFTER:
        return Verdict.UNCERTAIN, CHANGED
    return verdict, None

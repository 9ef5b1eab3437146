"""One timestamp for all cells of an act, later than that of every earlier act.

An act takes its time once, after it has its claim, and writes it into the claim; a repeated
act reads it there and writes the same cells.  The clock alone is not enough: clocks step
back, and two acts may begin in one millisecond.
"""

from __future__ import annotations


def next_act_time(now_ms: int, *last_act_ms: int) -> int:
    """Now, or one millisecond after the latest act under the claim, whichever is later."""
    return max((now_ms, *(last + 1 for last in last_act_ms)))

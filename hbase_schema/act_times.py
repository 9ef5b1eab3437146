"""One timestamp for all cells of an act, later than every act's before it.

An act takes its time once, after it has its claim, and writes it into the claim; whoever
does the act again reads it there and writes the same cells.  Clocks step back and two
acts may begin in one millisecond, so the clock alone decides nothing.
"""

from __future__ import annotations


def next_act_time(now_ms: int, *last_act_ms: int) -> int:
    """Now, or one past the latest act on what is claimed, whichever is later."""
    return max((now_ms, *(last + 1 for last in last_act_ms)))

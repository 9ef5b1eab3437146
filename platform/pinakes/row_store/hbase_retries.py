"""When to ask again.  Pure: time and chance are arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 5.0


def waits_s(
    patience_s: float, elapsed_s: Callable[[], float], chance: Callable[[], float]
) -> Iterator[float]:
    """Seconds to wait before each new attempt, for as long as there is patience.

    Twice as long each time, of which half is left to `chance` (0 to 1), lest all who lost
    one server come back together.  `elapsed_s` counts from the first attempt; what would
    end after `patience_s` is not begun, but for one last attempt at its very end.
    """
    longest = FIRST_WAIT_S
    while (left := patience_s - elapsed_s()) > 0:
        yield min(longest * (0.5 + chance() / 2), left)
        longest = min(2 * longest, LONGEST_WAIT_S)

"""When to repeat a call.  Pure: time and randomness are arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 5.0


def waits_s(
    patience_s: float, elapsed_s: Callable[[], float], chance: Callable[[], float]
) -> Iterator[float]:
    """Seconds to wait before each new attempt, until `patience_s` have passed.

    Doubled each time, half of it by `chance` (0 to 1), so that clients that lost one server do
    not return at the same moment.  `elapsed_s` counts from the first attempt; a wait that would
    end after `patience_s` is cut to one last attempt at its end.
    """
    longest = FIRST_WAIT_S
    while (left := patience_s - elapsed_s()) > 0:
        yield min(longest * (0.5 + chance() / 2), left)
        longest = min(2 * longest, LONGEST_WAIT_S)

"""How far a verb has come, with rate and time left.

On a terminal a bar (`pinakes.cli.frame.bar`); elsewhere a plain line every few seconds; with -q
nothing.  `Console.progress` chooses; all of it goes to standard error.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

LINE_EVERY_S = 5.0
_SLOW = 2.0


class Progress(Protocol):
    """What a verb reports of its progress."""

    def advance(self, count: int = 1) -> None:
        """So many more are done."""

    def set_total(self, total: int) -> None:
        """How many there are in all, once that is known."""


def percents(progress: Progress) -> Callable[[float], None]:
    """Tell it of how much is done in all, in percent, and not of how much more."""
    reported = 0

    def advance(percent: float) -> None:
        nonlocal reported
        progress.advance(int(percent) - reported)
        reported = int(percent)

    return advance


class LiveArea(Protocol):
    """A display that must be given the lines printed next to it."""

    def print_above(self, line: str) -> None:
        """Print a line, the display staying below it."""


class SilentProgress:
    """Says nothing."""

    def advance(self, count: int = 1) -> None:
        pass

    def set_total(self, total: int) -> None:
        pass


class LineProgress:
    """A line when `LINE_EVERY_S` have gone by since the last, and one at the end."""

    def __init__(
        self,
        what: str,
        *,
        total: int | None,
        unit: str,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._say = say
        self._clock = clock
        self._done = 0
        self._started = self._last = clock()

    def advance(self, count: int = 1) -> None:
        self._done += count
        now = self._clock()
        if now - self._last >= LINE_EVERY_S:
            self._last = now
            self._say(self._line(now))

    def set_total(self, total: int) -> None:
        self._total = total

    def close(self) -> None:
        """Say what was done in all, where that took longer than one line's time."""
        now = self._clock()
        if now - self._started >= LINE_EVERY_S:
            self._total = None
            self._say(f"{self._line(now)}, done in {format_duration(now - self._started)}")

    def _line(self, now: float) -> str:
        seconds = now - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        parts = [format_count(self._done, self._unit)]
        if self._total:
            parts[0] += f" of {format_count(self._total, self._unit)}"
            parts.append(f"{min(100, 100 * self._done // self._total)}%")
        parts.append(format_rate(rate, self._unit))
        if self._total and rate > 0:
            left = max(0, self._total - self._done) / rate
            parts.append(f"{format_duration(left)} left")
        return f"{self._what}: {', '.join(parts)}"


def format_count(count: int, unit: str) -> str:
    """`1,234 records`; bytes in decimal units, `1.2 MB`."""
    if unit != "bytes":
        return f"{count:,} {unit}"
    size = float(count)
    for suffix in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or suffix == "TB":
            break
        size /= 1000
    return f"{count} B" if suffix == "B" else f"{size:.1f} {suffix}"


def format_rate(per_second: float, unit: str) -> str:
    """`50 B/s`, `1,234 records/s`; what is slower than two a second by the minute."""
    if unit != "bytes" and 0 < per_second < _SLOW:
        return f"{format_count(round(60 * per_second), unit)}/min"
    return f"{format_count(round(per_second), unit)}/s"


def format_duration(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"

"""Captures of a page by several sides: in parallel where possible, and only those needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.sample import SampledPage
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views.side import ReplaySide, Side, Visit

from .decision import changed_outcomes
from .plan import is_replay

_NOT_SHOWN = "not captured: all requests of the reference would get the same bytes"
_FIRST_SCREEN = "the image is of the first screen: all requests would get the same bytes now"


class PageVisits:
    """One page, captured by sides by their names; by each at most once."""

    def __init__(self, sides: Mapping[str, Side], drawn: SampledPage, folder: Path) -> None:
        self.moment = datetime.strptime(f"{drawn.page.second}Z", "%Y%m%d%H%M%S%z")
        self._sides = sides
        self._url = drawn.page.url
        self._folder = folder
        self._visits: dict[str, Visit] = {}

    def visit_at_once(self, names: Sequence[str]) -> None:
        """Capture by several sides in parallel: a browser is idle for most of a capture.

        Only replays: the others have their own pace, or wait for one another.
        """
        replayed = [
            name for name in names if name not in self._visits and is_replay(self._sides[name].kind)
        ]
        if len(replayed) > 1:
            with ThreadPoolExecutor(len(replayed)) as pool:
                for name, visit in zip(replayed, pool.map(self.visit_again, replayed), strict=True):
                    self._visits[name] = visit

    def skip_if_same(self, before: str, current: str, *, is_for_one_pair: bool) -> None:
        """Use the capture of `before` for `current` as well, if the same bytes would be sent.

        `is_for_one_pair`: no other pair is compared with these captures.  Then the image of such
        a page is that of its first screen, the rest being proven.
        """
        side, now = self._sides[before], self._sides[current]
        if current in self._visits or not isinstance(now, ReplaySide):
            return
        repeated = _Repeated(now, self.moment)
        if is_for_one_pair and before not in self._visits and isinstance(side, ReplaySide):
            first = side.visit(self._url, self.moment, self._folder, is_known=repeated.is_same)
            is_first_screen = repeated.was_same
        else:
            first, is_first_screen = self.at(before), False
        snapshot, log = first.loaded.snapshot, first.log
        again = None
        if log is not None and snapshot.outcome is Outcome.COMPLETE:
            again = repeated.answers(log)
        if again is not None:
            note = _FIRST_SCREEN if is_first_screen and snapshot.goes_on_below_image else None
            loaded = replace(first.loaded, payloads=again.payloads)
            self._visits[before] = first._replace(note=note)
            self._visits[current] = Visit(loaded, again, repeated.milliseconds, note=_NOT_SHOWN)
        elif not is_first_screen:
            self._visits[before] = first

    def at(self, name: str) -> Visit:
        """The capture by this side."""
        if name not in self._visits:
            self._visits[name] = self.visit_again(name)
        return self._visits[name]

    def visit_again(self, name: str) -> Visit:
        """A new capture by this side."""
        return self._sides[name].visit(self._url, self.moment, self._folder)


class _Repeated:
    """The requests of a page, repeated to another generation without a browser."""

    def __init__(self, side: ReplaySide, moment: datetime) -> None:
        self._side = side
        self._moment = moment
        self._last: PageLog | None = None
        self._again: PageLog | None = None
        self.milliseconds = 0

    def is_same(self, log: PageLog) -> bool:
        """Whether all requests of the log are answered the same."""
        return self.answers(log) is not None

    @property
    def was_same(self) -> bool:
        """Whether those asked about last were."""
        return self._again is not None

    def answers(self, log: PageLog) -> PageLog | None:
        """The answers, if they are the same; the same log is not repeated twice."""
        if log != self._last:
            self._last, self._again = log, self._repeat(log)
        return self._again

    def _repeat(self, log: PageLog) -> PageLog | None:
        if not log.payloads or not log.is_repeatable:
            return None
        started = time.monotonic()
        again = self._side.repeat_requests(log, self._moment)
        self.milliseconds = round(1000 * (time.monotonic() - started))
        same = again.payloads == log.payloads and again.heads == log.heads
        return again if same and not changed_outcomes(log, again) else None

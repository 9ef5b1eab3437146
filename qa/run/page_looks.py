"""Captures of a page by several sides: in parallel where possible, and only those needed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pinakes.qa.sample.draw import Drawn
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views.side import LookResult, ReplaySide, Side

from .decision import changed_outcomes
from .plan import is_replay

_NOT_SHOWN = "not captured: all requests of the reference would get the same bytes"


class PageLooks:
    """One page, captured by sides by their names; by each at most once."""

    def __init__(self, sides: Mapping[str, Side], drawn: Drawn, folder: Path) -> None:
        self.moment = datetime.strptime(f"{drawn.page.second}Z", "%Y%m%d%H%M%S%z")
        self._sides = sides
        self._url = drawn.page.url
        self._folder = folder
        self._looked: dict[str, LookResult] = {}

    def look_at_once(self, names: Sequence[str]) -> None:
        """Capture by several sides in parallel: a browser is idle for most of a capture.

        Only replays: the others have their own pace, or wait for one another.
        """
        replayed = [
            name for name in names if name not in self._looked and is_replay(self._sides[name].kind)
        ]
        if len(replayed) > 1:
            with ThreadPoolExecutor(len(replayed)) as pool:
                for name, looked in zip(replayed, pool.map(self.look_again, replayed), strict=True):
                    self._looked[name] = looked

    def skip_if_same(self, before: str, current: str) -> None:
        """Use the capture of `before` for `current` as well, if the same bytes would be sent."""
        side, first = self._sides[current], self.at(before)
        log = first.log
        if current in self._looked or not isinstance(side, ReplaySide):
            return
        if first.loaded.snapshot.outcome is not Outcome.COMPLETE:
            return
        if log is None or not log.payloads or not log.is_repeatable:
            return
        started = time.monotonic()
        again = side.repeat_requests(log, self.moment)
        same = again.payloads == log.payloads and again.heads == log.heads
        if same and not changed_outcomes(log, again):
            took = round(1000 * (time.monotonic() - started))
            loaded = replace(first.loaded, payloads=again.payloads)
            self._looked[current] = LookResult(loaded, again, took, note=_NOT_SHOWN)

    def at(self, name: str) -> LookResult:
        """The capture by this side."""
        if name not in self._looked:
            self._looked[name] = self.look_again(name)
        return self._looked[name]

    def look_again(self, name: str) -> LookResult:
        """A new capture by this side."""
        return self._sides[name].look(self._url, self.moment, self._folder)

"""When a file that somebody writes is ready to land: it stands still, and is complete.

The decision is pure: what is there and what time it is are arguments.  `follow` is the
loop around it, which sleeps between two looks and ends by the exception of a signal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import open_source

from .inputs import Input

SETTLE_S = 60.0
_LONGEST_SLEEP_S = 10.0
_CUT_OFF = frozenset({"truncated", "damaged"})


class Status(NamedTuple):
    """What changes when a file is written to or replaced."""

    size: int
    mtime_ns: int
    inode: int


class Seen(NamedTuple):
    """A file in one look at the folders."""

    input: Input
    status: Status


class Stillness:
    """Remembers since when each file has stood still, and which ones were handed out."""

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        self._settle_s = settle_s
        self._since: dict[Path, tuple[Status, float]] = {}
        self._given: dict[Path, Status] = {}

    def settled(self, look: Iterable[Seen], now_s: float) -> list[Seen]:
        """Those that have stood still for long enough and are not as they were handed out.

        Looks come in order of time.  A file that changes begins anew, one that is gone is
        forgotten.
        """
        ready = []
        since: dict[Path, tuple[Status, float]] = {}
        for seen in look:
            path = seen.input.path
            status, start_s = self._since.get(path, (seen.status, now_s))
            if status != seen.status:
                start_s = now_s
            since[path] = (seen.status, start_s)
            if now_s - start_s >= self._settle_s and self._given.get(path) != seen.status:
                self._given[path] = seen.status
                ready.append(seen)
        self._since = since
        self._given = {path: s for path, s in self._given.items() if path in since}
        return ready


def look_at(inputs: Iterable[Input]) -> Iterator[Seen]:
    """The inputs that are there, each with its status."""
    for item in inputs:
        try:
            status = os.stat(item.path)
        except OSError:
            continue
        yield Seen(item, Status(status.st_size, status.st_mtime_ns, status.st_ino))


def is_complete(path: Path) -> bool:
    """Whether the reader finds no cut-off record at the end of the file.  Reads all of it.

    Raises InputRefused for what is no readable file.
    """
    last: Item | None = None
    with open_source(path) as source:
        if not source.size:
            return False
        for item in iter_records(source):
            last = item
    if last is None or isinstance(last, DamagedStretch):
        return False
    return not _CUT_OFF.intersection(finding.code for finding in last.findings)


def follow(
    listing: Callable[[], Iterable[Seen]],
    take: Callable[[Input], None],
    *,
    settle_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Take what settles, for ever: whatever `sleep` or `take` raises ends it.

    What was taken is taken again when it has changed.
    """
    stillness = Stillness(settle_s)
    while True:
        for item, _ in stillness.settled(listing(), clock()):
            take(item)
        sleep(min(_LONGEST_SLEEP_S, max(settle_s / 4, 0.05)))

"""When a file that is being written is ready to land: unchanged for a while, and complete.

The decision is pure: files and time are arguments.  `follow` is the loop around it, which sleeps
between two scans and is ended by the exception of a signal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pinakes.archive_store.located import local_path, open_place
from pinakes.warc.packages.paths import split_member
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch

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
    """A file in one scan of the folders."""

    input: Input
    status: Status


class Stillness:
    """Remembers since when each file is unchanged, and which files were returned."""

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        self._settle_s = settle_s
        self._since: dict[str, tuple[Status, float]] = {}
        self._given: dict[str, Status] = {}

    def settled(self, look: Iterable[Seen], now_s: float) -> list[Seen]:
        """The files unchanged for long enough that were not returned in this state before.

        Scans come in order of time.  A file that changes starts over; a deleted one is
        forgotten.
        """
        ready = []
        since: dict[str, tuple[Status, float]] = {}
        for seen in look:
            place = seen.input.place
            status, start_s = self._since.get(place, (seen.status, now_s))
            if status != seen.status:
                start_s = now_s
            since[place] = (seen.status, start_s)
            if now_s - start_s >= self._settle_s and self._given.get(place) != seen.status:
                self._given[place] = seen.status
                ready.append(seen)
        self._since = since
        self._given = {place: s for place, s in self._given.items() if place in since}
        return ready


def look_at(inputs: Iterable[Input]) -> Iterator[Seen]:
    """The inputs that exist, each with its status; that of its package, of a member."""
    for item in inputs:
        path = str(local_path(item.place))
        package, _ = split_member(path) or (path, "")
        try:
            status = os.stat(package)
        except OSError:
            continue
        yield Seen(item, Status(status.st_size, status.st_mtime_ns, status.st_ino))


def is_complete(place: str) -> bool:
    """Whether the last record of the file is complete.  Reads the whole file.

    Raises InputRefused for a file that cannot be read.
    """
    last: Item | None = None
    with open_place(place) as source:
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
    """Call `take` with files that have settled, for ever: an error of `sleep` or `take` ends it.

    A file is taken again after it has changed.
    """
    stillness = Stillness(settle_s)
    while True:
        for item, _ in stillness.settled(listing(), clock()):
            take(item)
        sleep(min(_LONGEST_SLEEP_S, max(settle_s / 4, 0.05)))

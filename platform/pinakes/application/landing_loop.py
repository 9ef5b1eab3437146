"""What an ingest does with its files: has them landed, and reports what became of each.

A file that another process is landing, here or on another host, is left to it and looked at
again at the end: then it was there, or, if that process died, it is landed here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pinakes.counts import count_of
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.ingest.attempts import Attempt, Left, Outcome
from pinakes.ingest.inputs import Input, LeftOut
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.tally import Tally
from pinakes.ingest.watch import Seen, follow
from pinakes.warc.file_progress import Advance
from pinakes.workers import Died

from .events import UNFINISHED, Notice, Others, Skipped

_BEAT_S = 1.0
_LONGEST_PAUSE_S = 10.0


class Arrived(NamedTuple):
    """A file that has landed, or was there, and where it came from."""

    place: str
    landed: Landed

    @property
    def is_unread(self) -> bool:
        """Whether it landed just now, and no record in it could be read."""
        return not self.landed.was_there and not self.landed.records


IngestEvent = Arrived | Skipped | Others | Notice | PinakesError
"""What an ingest reports; an error is of a file that did not land."""


@dataclass(slots=True, kw_only=True)
class IngestRun:
    """What one ingest did.

    `files` landed, with `bytes` and `captures`, `unread` of them without a record that can be read;
    `were_there` had landed before; `missed` did not land.  `crawl` is None where none was begun: no
    file could land.  `problems` say why files did not land; only `Store.ingest` keeps them.
    """

    run: str
    crawl: str | None
    files: int = 0
    bytes: int = 0
    captures: int = 0
    unread: int = 0
    were_there: int = 0
    missed: int = 0
    problems: list[PinakesError] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether each file has landed, with records."""
        return not (self.missed or self.unread)


class Answered(NamedTuple):
    """What became of an attempt, and what its worker counted in the meantime."""

    outcome: Outcome
    counts: dict[str, int]


class LandingWorkers(Protocol):
    """Who lands files: this process, or several others (`workers.Workers`)."""

    @property
    def under_way(self) -> int:
        """How many attempts are not answered yet."""
        ...

    @property
    def has_room(self) -> bool:
        """Whether another may be given."""
        ...

    def give(self, attempt: Attempt, /) -> None:
        """Have a file landed."""
        ...

    def answers(self, timeout_s: float | None = None) -> list[tuple[Attempt, Answered | Died]]:
        """What has been done since, waiting so long for the first."""
        ...

    def advanced(self) -> int:
        """By how many bytes others have come further since this was asked last."""
        ...


class InThisProcess:
    """Lands a file when it is given, in this process."""

    has_room = True

    def __init__(self, work: Callable[[Attempt], Outcome]) -> None:
        self._work = work
        self._done: list[tuple[Attempt, Answered | Died]] = []

    @property
    def under_way(self) -> int:
        return len(self._done)

    def give(self, attempt: Attempt, /) -> None:
        self._done.append((attempt, Answered(self._work(attempt), {})))

    def answers(self, timeout_s: float | None = None) -> list[tuple[Attempt, Answered | Died]]:
        done, self._done = self._done, []
        return done

    def advanced(self) -> int:
        return 0  # it reports its bytes itself


class IngestLoop:
    """Gives files to workers, and counts what comes of them."""

    def __init__(
        self,
        workers: LandingWorkers,
        landing_run: LandingRun,
        tally: Tally,
        on_event: Callable[[IngestEvent], None],
        advance: Advance,
        *,
        done: IngestRun,
    ) -> None:
        """`done` is where it counts; `advance` is called with the bytes that others have done."""
        self._workers = workers
        self._landing_run = landing_run
        self._tally = tally
        self._on_event = on_event
        self._advance = advance
        self._busy: dict[str, Attempt] = {}
        self._met_busy: set[str] = set()
        self._noted: set[str] = set()
        self._others = 0
        self._done = done

    def land(self, inputs: Iterable[Input]) -> None:
        """Each of these; returns when all have landed, here or elsewhere, or were refused."""
        for item in inputs:
            self._give(Attempt(item))
        self._take_all()
        pause_s, waits = 0.5, False
        while self._busy:
            if waits:
                self._pause(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            self._try_busy()
            self._take_all()
            if self._busy and not waits:
                waits = True
                files = count_of(len(self._busy), "file")
                self._on_event(Notice(f"waiting for {files} that other processes are ingesting"))

    def watch(self, listing: Callable[[], Iterable[Seen]], settle_s: float) -> None:
        """Land what settles, until a signal raises."""

        def look() -> Iterable[Seen]:
            self._try_busy()
            return listing()

        follow(
            look,
            lambda item: self._give(Attempt(item, if_complete=True)),
            settle_s=settle_s,
            clock=time.monotonic,
            sleep=self._pause,
        )

    def note_left(self, left: LeftOut) -> None:
        """Tell of each file that a writer still has, or that is refused, and of others; once."""
        for place in left.unfinished:
            if place not in self._noted:
                self._noted.add(place)
                self._on_event(Skipped(place, UNFINISHED))
        for refusal in left.refused:
            if str(refusal) not in self._noted:
                self._noted.add(str(refusal))
                self._miss(refusal)
        if left.others > self._others:
            self._others = left.others
            self._on_event(Others(left))

    def _try_busy(self) -> None:
        attempts, self._busy = list(self._busy.values()), {}
        for attempt in attempts:
            self._give(attempt)

    def _give(self, attempt: Attempt) -> None:
        while not self._workers.has_room:
            self._take(_BEAT_S)
        self._workers.give(attempt)
        self._take(0)

    def _take_all(self) -> None:
        while self._workers.under_way:
            self._take(_BEAT_S)

    def _pause(self, seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while (left_s := until_s - time.monotonic()) > 0:
            if self._workers.under_way:
                self._take(min(left_s, _BEAT_S))
            else:
                time.sleep(min(left_s, _BEAT_S))
                self._landing_run.beat()

    def _take(self, timeout_s: float) -> None:
        for attempt, answer in self._workers.answers(timeout_s):
            self._note(attempt, answer)
        self._advance(self._workers.advanced())
        self._landing_run.beat()

    def _note(self, attempt: Attempt, answer: Answered | Died) -> None:
        place = attempt.item.place
        if isinstance(answer, Died):
            self._miss(InputRefused(_end_of(answer), file=place))
            return
        for name, count in answer.counts.items():
            self._tally.add(name, count)
        outcome = answer.outcome
        if isinstance(outcome, Landed):
            self._landing_run.landed(outcome)
            self._arrive(Arrived(place, outcome))
        elif isinstance(outcome, Left):
            self._on_event(Skipped(place, outcome.why))
        elif isinstance(outcome, Busy):
            self._meet_busy(attempt, outcome)
        elif isinstance(outcome, PinakesError):
            self._miss(outcome)

    def _meet_busy(self, attempt: Attempt, problem: Busy) -> None:
        place = attempt.item.place
        self._busy[place] = attempt
        if place not in self._met_busy:
            self._met_busy.add(place)
            self._on_event(
                Notice(f"{place}: another process is ingesting it; will check again later")
            )
            self._on_event(Notice(str(problem), level="detail"))

    def _miss(self, problem: PinakesError) -> None:
        self._done.missed += 1
        self._on_event(problem)
        self._landing_run.missed(problem)

    def _arrive(self, arrived: Arrived) -> None:
        done, landed = self._done, arrived.landed
        if landed.was_there:
            done.were_there += 1
        else:
            done.files += 1
            done.bytes += landed.size
            done.captures += landed.captures
            done.unread += arrived.is_unread
        self._on_event(arrived)


def _end_of(died: Died) -> str:
    how = "ended" if died.signal_number is None else f"was ended by signal {died.signal_number}"
    return f"the process that was ingesting it {how}: run this again"

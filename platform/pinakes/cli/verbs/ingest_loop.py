"""What `pinakes ingest` does with its files: has them landed, and says what became of each.

A file that somebody else is landing, here or on another host, is left to them and looked at
again at the end: then it was there, or, if they died, it is landed here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from pinakes.cli.frame.left_out import say_others
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress
from pinakes.cli.frame.workers import Died
from pinakes.counts import count_of
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.ingest.attempts import Attempt, Left, Outcome
from pinakes.ingest.inputs import Input, LeftOut
from pinakes.ingest.landed import KEPT_ERRORS, Landed
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.tally import Tally
from pinakes.ingest.watch import Seen, follow

_BEAT_S = 1.0
_LONGEST_PAUSE_S = 10.0


class Answered(NamedTuple):
    """What became of an attempt, and what was counted meanwhile by who made it."""

    outcome: Outcome
    counts: dict[str, int]


class Crew(Protocol):
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


class Alone:
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
        return 0  # it tells of its bytes itself


class IngestLoop:
    """Gives files to a crew; `failed` is whether one of them was refused or not readable."""

    def __init__(
        self,
        crew: Crew,
        landing_run: LandingRun,
        tally: Tally,
        console: Console,
        progress: Progress,
    ) -> None:
        self._crew = crew
        self._landing_run = landing_run
        self._tally = tally
        self._console = console
        self._progress = progress
        self._busy: dict[str, Attempt] = {}
        self._met_busy: set[str] = set()
        self._noted: set[str] = set()
        self._others = 0
        self._counts = Counter[str]()
        self.failed = False

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
                self._console.say(
                    f"waiting for {count_of(len(self._busy), 'file')} that other processes are "
                    "ingesting"
                )

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
        """Name each file that a writer still has, or that is refused; some of the others; once."""
        for place in left.unfinished:
            if place not in self._noted:
                self._noted.add(place)
                self._console.warn(f"{printable(place)}: still being written; skipped")
        for refusal in left.refused:
            if str(refusal) not in self._noted:
                self._noted.add(str(refusal))
                self._miss(refusal)
        if left.others > self._others:
            self._others = left.others
            say_others(left, self._console)

    def _try_busy(self) -> None:
        attempts, self._busy = list(self._busy.values()), {}
        for attempt in attempts:
            self._give(attempt)

    def _give(self, attempt: Attempt) -> None:
        while not self._crew.has_room:
            self._take(_BEAT_S)
        self._crew.give(attempt)
        self._take(0)

    def _take_all(self) -> None:
        while self._crew.under_way:
            self._take(_BEAT_S)

    def _pause(self, seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while (left_s := until_s - time.monotonic()) > 0:
            if self._crew.under_way:
                self._take(min(left_s, _BEAT_S))
            else:
                time.sleep(min(left_s, _BEAT_S))
                self._landing_run.beat()

    def _take(self, timeout_s: float) -> None:
        for attempt, answer in self._crew.answers(timeout_s):
            self._note(attempt, answer)
            self._console.flush()  # a watch goes on for days, and its reader waits
        self._progress.advance(self._crew.advanced())
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
            self._count(outcome)
            self.failed = _report(outcome, place, self._console) or self.failed
        elif isinstance(outcome, Left):
            self._console.warn(f"{printable(place)}: {outcome.why}")
        elif isinstance(outcome, Busy):
            self._meet_busy(attempt, outcome)
        elif isinstance(outcome, PinakesError):
            self._miss(outcome)

    def _meet_busy(self, attempt: Attempt, problem: Busy) -> None:
        place = attempt.item.place
        self._busy[place] = attempt
        if place not in self._met_busy:
            self._met_busy.add(place)
            self._console.say(
                f"{printable(place)}: another process is ingesting it; will check again later"
            )
            self._console.detail(str(problem))

    def _miss(self, problem: PinakesError) -> None:
        self._console.warn(problem)
        self._landing_run.missed(problem)
        self._counts["missed"] += 1
        self.failed = True

    def _count(self, landed: Landed) -> None:
        if landed.was_there:
            self._counts["was there"] += 1
        else:
            self._counts.update(files=1, bytes=landed.size, captures=landed.captures)

    def summary(self) -> str | None:
        """What has landed, and what not; None of no files."""
        counts = self._counts
        if not counts:
            return None
        held = f"{count_of(counts['bytes'], 'byte')}, {count_of(counts['captures'], 'capture')}"
        parts = [f"{count_of(counts['files'], 'file')} landed: {held}"]
        if counts["was there"]:
            parts.append(f"{counts['was there']:,} landed before")
        if counts["missed"]:
            parts.append(f"{counts['missed']:,} not landed (named above)")
        return "; ".join(parts)


def _end_of(died: Died) -> str:
    how = "ended" if died.signal_number is None else f"was ended by signal {died.signal_number}"
    return f"the process that was ingesting it {how}: run this again"


def _report(landed: Landed, path: str, console: Console) -> bool:
    """Say what landed; whether nothing in the file could be read."""
    what = "was there" if landed.was_there else "landed"
    console.result(
        {
            "file": landed.archive_file,
            "outcome": what,
            "bytes": landed.size,
            "sha256": landed.sha256,
            "records": dict(landed.records),
            "captures": landed.captures,
            "errors": dict(landed.errors),
        },
        text=f"{printable(landed.archive_file)}: {what}, {count_of(landed.size, 'byte')}"
        + ("" if landed.was_there else f", {count_of(landed.captures, 'capture')}"),
    )
    for line in landed.lines:
        code = line.split(": ")[1]
        kind = f"{code}, counting at most {KEPT_ERRORS} a file"
        console.warn(f"{printable(path)}:{printable(line)}", kind=kind)
    unread = not landed.was_there and not landed.records
    if unread:
        console.warn(f"{printable(path)}: stored unchanged, but no record in it could be read")
    return unread

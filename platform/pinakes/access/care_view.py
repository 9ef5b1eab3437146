"""What is at work in a store, what was left unfinished, and when it was last checked and backed up.

Read from rows, on any host: the leases of collections, and the latest runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from pinakes.acts.actor import read_lease
from pinakes.backup.making import VERB as BACKUP
from pinakes.catalog.run_rows import DONE, RUNNING, RunEntry, latest_runs
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.ingest.fsck.quarantine import VERB as CHECK
from pinakes.row_store.port import RowStore

from .landing_view import DEAD, STALLED, Landing

UNFINISHED = "unfinished"
_RUNS = 50
"""So many of the latest runs of a verb are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActAtWork:
    """An act that has not ended: `running`, or `unfinished`, which its command, run again,
    completes; `place` is its crawl, collection or folder, as far as it is known."""

    act: str
    state: str
    since_ms: int
    place: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """The last check or backup that came to its end: when it began, its arguments and counts."""

    run: str
    at_ms: int
    arguments: tuple[str, ...]
    counts: dict[str, int]

    @property
    def left(self) -> int:
        """Of a check: what it found and did not mend."""
        return self.counts.get("found", 0) - self.counts.get("mended", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """Acts by time, and the last check and backup; None: there was none."""

    at_work: tuple[ActAtWork, ...]
    last_check: EndedRun | None
    last_backup: EndedRun | None


@dataclass(frozen=True, slots=True)
class CareView:
    """Reads it.  For one thread."""

    rows: RowStore
    now_ms: Callable[[], int]
    is_gone: Callable[[str], bool]

    def read(self, landing: Landing) -> Care:
        """A row for each collection that is shown, and two short scans."""
        backups = latest_runs(self.rows, BACKUP, _RUNS)
        found = [*self._leases(landing), *_ingests(landing), *self._backups(backups)]
        return Care(
            at_work=tuple(sorted(found, key=attrgetter("since_ms", "act"))),
            last_check=_last(latest_runs(self.rows, CHECK, _RUNS)),
            last_backup=_last(backups),
        )

    def _leases(self, landing: Landing) -> Iterator[ActAtWork]:
        for collection in sorted({crawl.facts.collection for crawl in landing.crawls}):
            lease = read_lease(self.rows, collection)
            if lease is not None and lease.expires_ms:
                is_left = lease.expires_ms <= self.now_ms() or self.is_gone(lease.owner)
                yield ActAtWork(
                    act=lease.act,
                    state=UNFINISHED if is_left else RUNNING,
                    since_ms=lease.act_time_ms,
                    place=collection,
                )

    def _backups(self, runs: list[RunEntry]) -> Iterator[ActAtWork]:
        for entry in runs:
            if entry.state == DONE:
                return  # one that died before it is not gone on with
            if entry.state == RUNNING:
                place, owner = entry.facts.arguments
                yield _of_run(entry, UNFINISHED if self.is_gone(owner) else RUNNING, place)


def _ingests(landing: Landing) -> Iterator[ActAtWork]:
    """Of one that died, nothing says whether another has gone on with it, but files half landed."""
    half = {crawl_of(flight.file) for flight in landing.flights if flight.state == STALLED}
    for shown in landing.runs:
        if shown.entry.state == RUNNING and (shown.state != DEAD or shown.crawl in half):
            state = UNFINISHED if shown.state == DEAD else RUNNING
            yield _of_run(shown.entry, state, shown.crawl)


def _of_run(entry: RunEntry, state: str, place: str | None) -> ActAtWork:
    return ActAtWork(act=entry.run, state=state, since_ms=entry.facts.act_time_ms, place=place)


def _last(runs: list[RunEntry]) -> EndedRun | None:
    for entry in runs:
        if entry.state == DONE:
            return EndedRun(
                run=entry.run,
                at_ms=entry.facts.act_time_ms,
                arguments=entry.facts.arguments,
                counts=dict(entry.progress.counts) if entry.progress is not None else {},
            )
    return None

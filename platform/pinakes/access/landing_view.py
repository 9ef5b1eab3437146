"""Progress of landings, read from the rows on any host.

Two queries of different cost.  What is landing now: `inflight` and the rows of those files, the
latest ingest runs, the crawls.  What has landed so far: the counts in the rows of each crawl's
files, of which only those that may have changed are read again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.catalog.crawl_rows import CrawlEntry, scan_crawls
from pinakes.catalog.file_counts import CrawlTotals, read_totals
from pinakes.catalog.file_rows import INFLIGHT, read_entries
from pinakes.catalog.run_rows import RUNNING, RunEntry, latest_runs
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of, decode_file_key
from pinakes.ingest.landing import VERB
from pinakes.ingest.tally import BYTES, RECORDS
from pinakes.row_store.port import RowStore

WINDOW_MS = 60_000


class Rate(NamedTuple):
    """Records and bytes landed per second; files count when they have landed."""

    records_s: float = 0.0
    bytes_s: float = 0.0


class _Sample(NamedTuple):
    at_ms: int
    records: int
    size: int


class Rates:
    """Remembers the counts of each run over the last minute, or the last two reports."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[_Sample]] = {}

    def rate_of(self, entry: RunEntry) -> Rate:
        """The rate between the oldest remembered report and the one in this row.

        Before the second report: the rate since the start of the run.
        """
        progress = entry.progress
        if progress is None:
            return Rate()
        sample = _Sample(
            progress.at_ms, progress.counts.get(RECORDS, 0), progress.counts.get(BYTES, 0)
        )
        samples = self._samples.setdefault(entry.run, deque())
        if not samples or samples[-1].at_ms < sample.at_ms:
            samples.append(sample)
        while len(samples) > 2 and samples[1].at_ms <= sample.at_ms - WINDOW_MS:
            samples.popleft()
        first = samples[0] if len(samples) > 1 else _Sample(entry.facts.act_time_ms, 0, 0)
        seconds = (sample.at_ms - first.at_ms) / 1000
        if seconds <= 0:
            return Rate()
        return Rate(
            (sample.records - first.records) / seconds, (sample.size - first.size) / seconds
        )

    def keep(self, runs: AbstractSet[str]) -> None:
        """Forget all other runs."""
        for run in self._samples.keys() - runs:
            del self._samples[run]


STALLED = "stalled"
DEAD = "dead"
"""The state of an ingest whose process is gone."""
INFLIGHT_LIMIT = 10_000
"""Files in flight that are looked at: where a large crawl is taken out, all of it is."""

RUNS_LIMIT = 200
RECOUNT_S = 3600.0
RECENT_MS = 3600_000
"""How long an ended ingest is shown."""

ShowsCrawl = Callable[[str, str], bool]
"""Whether readers may know of a crawl, by its name and its collection."""


def shows_all(crawl: str, collection: str) -> bool:
    """Of every crawl."""
    return True


SILENT_MS = 120_000
"""An ingest without files in flight and without a report for so long may be dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A file that lands or leaves, or was refused on the way.

    `state` is that of the file; `stalled`: it should land, but no process holds its claim;
    the same command, run again, completes it.
    """

    file: str
    state: str
    act: str
    owner: str | None
    since_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIngest:
    """An ingest: its row, its rate lately, and whether it is `running`, `silent` or ended."""

    entry: RunEntry
    state: str
    rate: Rate

    @property
    def crawl(self) -> str | None:
        return self.entry.progress.crawl if self.entry.progress is not None else None

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.entry.progress.counts if self.entry.progress is not None else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What is landing at `at_ms`; `more`: more files are in flight than were read."""

    at_ms: int
    crawls: tuple[CrawlEntry, ...]
    flights: tuple[Flight, ...]
    runs: tuple[ShownIngest, ...]
    more: bool

    def busy_crawls(self) -> set[str]:
        """The crawls with current or very recent activity."""
        crawls = {crawl_of(flight.file) for flight in self.flights}
        return crawls | {run.crawl for run in self.runs if run.crawl is not None}


@dataclass(slots=True)
class LandingView:
    """Reads what is landing.  For one thread."""

    rows: RowStore
    now_ms: Callable[[], int]
    is_gone: Callable[[str], bool]
    shows_crawl: ShowsCrawl = shows_all
    rates: Rates = field(default_factory=Rates)

    def read(self) -> Landing:
        """A few scans, each of at most `INFLIGHT_LIMIT` rows, except that of crawls."""
        now_ms = self.now_ms()
        found = self.rows.scan(INFLIGHT, limit_rows=INFLIGHT_LIMIT + 1)
        names = [decode_file_key(row.key) for row in found]
        crawls = list(scan_crawls(self.rows))
        shown = [c for c in crawls if self.shows_crawl(c.crawl, c.facts.collection)]
        hidden = {c.crawl for c in crawls} - {c.crawl for c in shown}
        flights = self._flights(names[:INFLIGHT_LIMIT], now_ms)
        runs = self._runs(flights, now_ms)
        return Landing(
            at_ms=now_ms,
            crawls=tuple(shown),
            flights=tuple(flight for flight in flights if crawl_of(flight.file) not in hidden),
            runs=tuple(run for run in runs if run.crawl not in hidden),
            more=len(names) > INFLIGHT_LIMIT,
        )

    def _flights(self, names: list[str], now_ms: int) -> tuple[Flight, ...]:
        flights = []
        for name, entry in read_entries(self.rows, names).items():
            claim, state = entry.claim, entry.state or FileState.LANDING
            held = claim is not None and claim.expires_ms > now_ms
            if state is FileState.STORED:
                state = FileState.LANDING  # it has landed, but is not visible yet
            stalled = state.is_landing and (claim is None or not held or self.is_gone(claim.owner))
            flights.append(
                Flight(
                    file=name,
                    state=STALLED if stalled else state.value,
                    act=claim.act if claim is not None else "",
                    owner=claim.owner if claim is not None else None,
                    since_ms=claim.act_time_ms if claim is not None else None,
                )
            )
        return tuple(flights)

    def _runs(self, flights: Iterable[Flight], now_ms: int) -> tuple[ShownIngest, ...]:
        runs = []
        at_work = {
            _process_of(f.owner)
            for f in flights
            if f.owner and f.state in (FileState.LANDING, FileState.LOADING)
        }
        for entry in latest_runs(self.rows, VERB, RUNS_LIMIT):
            progress = entry.progress
            heard_ms = progress.at_ms if progress is not None else entry.facts.act_time_ms
            age_ms = now_ms - heard_ms
            state = entry.state
            if state == RUNNING and progress is not None and self.is_gone(progress.owner):
                state = DEAD
            elif state == RUNNING and age_ms > SILENT_MS:
                owner = progress.owner if progress is not None else ""
                state = RUNNING if _process_of(owner) in at_work else "silent"
            if state != RUNNING and age_ms > RECENT_MS:
                continue
            runs.append(ShownIngest(entry=entry, state=state, rate=self.rates.rate_of(entry)))
        self.rates.keep({run.entry.run for run in runs})
        return tuple(runs)


def _process_of(owner: str) -> str:
    """`HOST/PID/START` of an owner, without the worker's name."""
    return owner.rpartition("/")[0]


@dataclass(slots=True)
class TotalsView:
    """Reads what has landed in each crawl; caches what cannot change.  For one thread."""

    rows: RowStore
    clock: Callable[[], float]
    shows_crawl: ShowsCrawl = shows_all
    _kept: dict[str, tuple[CrawlTotals, int, float, bool]] = field(default_factory=dict)

    def read(self, busy: set[str]) -> Mapping[str, CrawlTotals]:
        """The totals by crawl.  Reads again crawls that are or were busy or changed their state,
        and each once in `RECOUNT_S`."""
        kept = {}
        for crawl in scan_crawls(self.rows):
            if not self.shows_crawl(crawl.crawl, crawl.facts.collection):
                continue
            known = self._kept.get(crawl.crawl)
            if known is None or crawl.crawl in busy or self._is_old(known, crawl):
                totals = read_totals(self.rows, crawl.crawl)
                known = (totals, crawl.changed_ms, self.clock(), crawl.crawl in busy)
            kept[crawl.crawl] = known
        self._kept = kept
        return {crawl: known[0] for crawl, known in kept.items()}

    def _is_old(self, known: tuple[CrawlTotals, int, float, bool], crawl: CrawlEntry) -> bool:
        _, changed_ms, read_s, was_busy = known
        return was_busy or crawl.changed_ms != changed_ms or self.clock() - read_s > RECOUNT_S

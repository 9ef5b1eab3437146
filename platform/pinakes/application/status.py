"""A store at a glance: what it has, what that takes, what is at work, and what needs care."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add, attrgetter

from pinakes.access.landing_view import STALLED, Landing, LandingView
from pinakes.acts.actor import Actor, read_lease
from pinakes.backup.making import VERB as BACKUP
from pinakes.catalog.crawl_rows import COMMITTED, GONE, OPEN, CrawlEntry, scan_lost_crawls
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.holdings import NOTHING_HELD, Holdings
from pinakes.catalog.run_rows import DONE, RUNNING, RunEntry, latest_runs
from pinakes.config import Configuration
from pinakes.dedupe.run.run_report import DedupeRequest, policies_text
from pinakes.hbase_schema.file_states import FileState
from pinakes.profile import Stores

from .checking import FSCK
from .deduping import plan_of

UNFINISHED = "unfinished"
_RUNS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Duplicates that `dedupe` would write as revisits now, and about how many bytes that saves."""

    captures: int
    saved_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionStatus:
    """What is stored of a collection; `duplicates` is None where they were not counted.

    `open_crawls` and `committed_crawls` are those that are there, `leaving_crawls` those that an
    act is taking out, or has left when it died.
    """

    collection: str
    open_crawls: int
    committed_crawls: int
    leaving_crawls: int
    holdings: Holdings
    duplicates: Duplicates | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """A whole store.

    `stalled_files` are those whose landing has died, `refused_files` those that were refused and
    are still here, `lost_crawls` those whose row is lost.
    """

    collections: tuple[CollectionStatus, ...]
    at_work: tuple[ActAtWork, ...]
    stalled_files: int
    refused_files: int
    lost_crawls: int
    last_check: EndedRun | None
    last_backup: EndedRun | None

    @property
    def holdings(self) -> Holdings:
        """Of all collections."""
        return reduce(add, (one.holdings for one in self.collections), NOTHING_HELD)


def read_status(
    stores: Stores,
    configuration: Configuration,
    *,
    duplicates: bool = True,
    counted: Callable[[], None] = lambda: None,
) -> StoreStatus:
    """What a store has now; `counted` is called after each crawl.

    Cost: a pass over the rows of files; with `duplicates` also one over all sidecars, and some 200
    records are read.
    """
    actor = Actor()
    landing = LandingView(stores.rows, actor.now_ms, actor.is_gone).read()
    crawls = sorted(landing.crawls, key=lambda one: (one.facts.collection, one.crawl))
    collections = []
    for name, some in groupby(crawls, key=lambda one: one.facts.collection):
        there = [crawl for crawl in some if crawl.state not in GONE]
        if there:
            collections.append(
                CollectionStatus(
                    collection=name,
                    open_crawls=sum(crawl.state == OPEN for crawl in there),
                    committed_crawls=sum(crawl.state == COMMITTED for crawl in there),
                    leaving_crawls=sum(crawl.state not in (OPEN, COMMITTED) for crawl in there),
                    holdings=_held(stores, there, counted),
                    duplicates=_duplicates(stores, name, configuration) if duplicates else None,
                )
            )
    names = sorted({crawl.facts.collection for crawl in crawls})
    return StoreStatus(
        collections=tuple(collections),
        at_work=tuple(_at_work(stores, actor, names, landing)),
        stalled_files=sum(flight.state == STALLED for flight in landing.flights),
        refused_files=sum(flight.state == FileState.REFUSED.value for flight in landing.flights),
        lost_crawls=sum(1 for _ in scan_lost_crawls(stores.rows)),
        last_check=_last(stores, FSCK),
        last_backup=_last(stores, BACKUP),
    )


def _held(stores: Stores, crawls: list[CrawlEntry], counted: Callable[[], None]) -> Holdings:
    held = NOTHING_HELD
    for crawl in crawls:
        held += read_totals(stores.rows, crawl.crawl).holdings
        counted()
    return held


def _duplicates(stores: Stores, collection: str, configuration: Configuration) -> Duplicates:
    wanted = DedupeRequest(
        collection=collection,
        crawl=None,
        min_saving_bytes=configuration.min_saving_bytes,
        min_file_saving=configuration.min_file_saving,
        policies=policies_text(configuration.dedupe),
    )
    plan = plan_of(stores, wanted)
    return Duplicates(captures=plan.total.records, saved_bytes=plan.saved_bytes)


def _at_work(
    stores: Stores, actor: Actor, collections: list[str], landing: Landing
) -> Iterator[ActAtWork]:
    """What holds a collection; ingests and backups that have not ended; in order of time."""
    found = []
    for name in collections:
        lease = read_lease(stores.rows, name)
        if lease is not None and lease.expires_ms:
            is_left = lease.expires_ms <= actor.now_ms() or actor.is_gone(lease.owner)
            state = UNFINISHED if is_left else RUNNING
            found.append(
                ActAtWork(act=lease.act, state=state, since_ms=lease.act_time_ms, place=name)
            )
    for shown in landing.runs:
        if shown.entry.state == RUNNING:
            state = RUNNING if shown.state == RUNNING else UNFINISHED
            found.append(_of_run(shown.entry, state, shown.crawl))
    for entry in latest_runs(stores.rows, BACKUP, _RUNS):
        if entry.state == RUNNING:
            place, owner = entry.facts.arguments
            found.append(_of_run(entry, UNFINISHED if actor.is_gone(owner) else RUNNING, place))
    yield from sorted(found, key=attrgetter("since_ms", "act"))


def _of_run(entry: RunEntry, state: str, place: str | None) -> ActAtWork:
    return ActAtWork(act=entry.run, state=state, since_ms=entry.facts.act_time_ms, place=place)


def _last(stores: Stores, verb: str) -> EndedRun | None:
    for entry in latest_runs(stores.rows, verb, _RUNS):
        if entry.state == DONE:
            return EndedRun(
                run=entry.run,
                at_ms=entry.facts.act_time_ms,
                arguments=entry.facts.arguments,
                counts=dict(entry.progress.counts) if entry.progress is not None else {},
            )
    return None

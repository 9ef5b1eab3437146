"""A store at a glance: what it has, what that takes, what is at work, and what needs care."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add

from pinakes.access.care_view import Care, CareView
from pinakes.access.landing_view import STALLED, LandingView
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import COMMITTED, GONE, OPEN, CrawlEntry, scan_lost_crawls
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.holdings import NOTHING_HELD, Holdings
from pinakes.config import Configuration
from pinakes.dedupe.run.run_report import DedupeRequest, policies_text
from pinakes.hbase_schema.file_states import FileState
from pinakes.profile import Stores

from .deduping import plan_of


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
class StoreStatus:
    """A whole store.

    `stalled_files` are those whose landing has died, `refused_files` those that were refused and
    are still here, `lost_crawls` those whose row is lost.
    """

    collections: tuple[CollectionStatus, ...]
    care: Care
    stalled_files: int
    refused_files: int
    lost_crawls: int

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
    return StoreStatus(
        collections=tuple(collections),
        care=CareView(stores.rows, actor.now_ms, actor.is_gone).read(landing),
        stalled_files=sum(flight.state == STALLED for flight in landing.flights),
        refused_files=sum(flight.state == FileState.REFUSED.value for flight in landing.flights),
        lost_crawls=sum(1 for _ in scan_lost_crawls(stores.rows)),
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

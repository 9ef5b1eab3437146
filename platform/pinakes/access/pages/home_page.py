"""The home page: collections and their crawls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pinakes.access.landing_view import STALLED, Landing
from pinakes.access.recent import Look
from pinakes.access.views import StoreHealth
from pinakes.catalog.crawl_rows import CrawlEntry
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.catalog.run_rows import RUNNING
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of

from .rendering import Links, render

CRAWLS_SHOWN = 200
_TROUBLES = (STALLED, FileState.REFUSED.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlLine:
    """A crawl; its counts are None until they have been read.  `troubles` are (state, files)."""

    entry: CrawlEntry
    totals: CrawlTotals | None
    troubles: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        return self.entry.crawl

    @property
    def state(self) -> str:
        return self.entry.state

    @property
    def description(self) -> str | None:
        return self.entry.facts.description

    @property
    def files(self) -> int | None:
        return self.totals.now("files") if self.totals is not None else None

    @property
    def captures(self) -> int | None:
        return self.totals.now("captures") if self.totals is not None else None

    @property
    def landed_bytes(self) -> int | None:
        return self.totals.now("bytes") if self.totals is not None else None

    @property
    def records(self) -> int | None:
        return self.totals.counts["records"] if self.totals is not None else None

    @property
    def damaged(self) -> int | None:
        return self.totals.counts["damaged"] if self.totals is not None else None

    @property
    def saved_bytes(self) -> int:
        return self.totals.saved_bytes if self.totals is not None else 0

    @property
    def saved_percent(self) -> str:
        return f"{100 * self.saved_bytes / max(1, self.landed_bytes or 0):.1f}"

    @property
    def latest_ms(self) -> int:
        return (self.totals.latest_ms if self.totals is not None else None) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionLine:
    """A collection and its crawls, the latest landing first."""

    name: str
    crawls: tuple[CrawlLine, ...]

    @property
    def saved_bytes(self) -> int:
        return sum(crawl.saved_bytes for crawl in self.crawls)


def home_page(
    landing: Look[Landing],
    totals: Look[Mapping[str, CrawlTotals]],
    health: Sequence[StoreHealth],
    *,
    links: Links,
) -> str:
    """The page."""
    crawls = list(_crawls(landing.value, totals.value or {})) if landing.value is not None else []
    crawls.sort(key=lambda one: (one.entry.facts.collection, -one.latest_ms, one.name))
    return render(
        "home.html",
        links=links,
        landing=landing,
        totals=totals,
        health=health,
        collections=[
            CollectionLine(name=name, crawls=tuple(group))
            for name, group in groupby(crawls, key=lambda one: one.entry.facts.collection)
        ],
        sums={
            "crawls": len(crawls),
            **{
                name: sum(getattr(crawl, name) or 0 for crawl in crawls)
                for name in ("files", "records", "landed_bytes", "saved_bytes")
            },
        },
        busy=sum(run.state == RUNNING for run in landing.value.runs) if landing.value else 0,
        most=CRAWLS_SHOWN,
    )


def _crawls(landing: Landing, totals: Mapping[str, CrawlTotals]) -> Iterator[CrawlLine]:
    flights: dict[tuple[str, str], int] = {}
    for flight in landing.flights:
        place = (crawl_of(flight.file), flight.state)
        flights[place] = flights.get(place, 0) + 1
    for entry in landing.crawls:
        yield CrawlLine(
            entry=entry,
            totals=totals.get(entry.crawl),
            troubles=tuple(
                (state, flights[entry.crawl, state])
                for state in _TROUBLES
                if (entry.crawl, state) in flights
            ),
        )

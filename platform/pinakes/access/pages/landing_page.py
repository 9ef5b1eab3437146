"""The page on landing crawls: its values, and its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pinakes.access.landing_view import Flight, Landing, Rate, ShownIngest
from pinakes.access.recent import CachedState
from pinakes.access.views import StoreHealth
from pinakes.catalog.crawl_rows import CrawlEntry
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.catalog.holdings import Holdings
from pinakes.catalog.run_rows import RUNNING
from pinakes.hbase_schema.name_keys import crawl_of

from .rendering import Links, render

FLIGHTS_SHOWN = 50
CRAWLS_SHOWN = 200
REFRESH_S = 5
_CHOICES = (5, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlShown:
    """A crawl on the page; `totals` is None until they have been read."""

    entry: CrawlEntry
    totals: CrawlTotals | None
    flights: tuple[Flight, ...]
    runs: tuple[ShownIngest, ...]

    @property
    def states(self) -> Counter[str]:
        return Counter(flight.state for flight in self.flights)

    @property
    def holdings(self) -> Holdings | None:
        return self.totals.holdings if self.totals is not None else None

    @property
    def rate(self) -> Rate:
        return summed(self.runs)

    @property
    def is_busy(self) -> bool:
        return bool(self.flights or self.runs)

    @property
    def is_landing(self) -> bool:
        return any(run.state == RUNNING for run in self.runs)

    @property
    def latest_ms(self) -> int:
        return (self.totals.latest_ms if self.totals is not None else None) or 0


def summed(runs: Sequence[ShownIngest]) -> Rate:
    """The total rate of all running ingests."""
    rates = [run.rate for run in runs if run.state == RUNNING]
    return Rate(sum(rate.records_s for rate in rates), sum(rate.bytes_s for rate in rates))


def landing_page(
    landing: CachedState[Landing],
    totals: CachedState[Mapping[str, CrawlTotals]],
    health: Sequence[StoreHealth],
    *,
    links: Links,
    refresh: str | None,
) -> str:
    """The page.  `refresh` is the reader's choice: seconds, or `off`."""
    seconds = None if refresh == "off" else _seconds(refresh)
    crawls = _crawls(landing.value, totals.value or {}) if landing.value is not None else []
    busy = sorted(
        (crawl for crawl in crawls if crawl.is_busy),
        key=lambda c: (not c.is_landing, not c.flights, c.entry.crawl),
    )
    quiet = sorted(
        (crawl for crawl in crawls if not crawl.is_busy), key=lambda c: c.latest_ms, reverse=True
    )
    return render(
        "landing.html",
        links=links,
        landing=landing,
        totals=totals,
        health=health,
        busy=busy,
        quiet=quiet[:CRAWLS_SHOWN],
        quiet_more=len(quiet) - CRAWLS_SHOWN,
        rate=summed(landing.value.runs) if landing.value is not None else Rate(),
        refresh=seconds,
        choices=_CHOICES,
        flights_shown=FLIGHTS_SHOWN,
    )


def _seconds(text: str | None) -> int:
    return next((choice for choice in _CHOICES if str(choice) == text), REFRESH_S)


def _crawls(landing: Landing, totals: Mapping[str, CrawlTotals]) -> list[CrawlShown]:
    flights: dict[str, list[Flight]] = {}
    for flight in landing.flights:
        flights.setdefault(crawl_of(flight.file), []).append(flight)
    runs: dict[str | None, list[ShownIngest]] = {}
    for run in landing.runs:
        runs.setdefault(run.crawl, []).append(run)
    return [
        CrawlShown(
            entry=entry,
            totals=totals.get(entry.crawl),
            flights=tuple(sorted(flights.get(entry.crawl, []), key=lambda f: f.since_ms or 0)),
            runs=tuple(runs.get(entry.crawl, [])),
        )
        for entry in landing.crawls
    ]

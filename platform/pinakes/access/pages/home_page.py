"""The home page: collections and their crawls; and the page of each crawl.

That has its state, its WACZ files, and the pages that these list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from pinakes.access.care_view import UNFINISHED, Care
from pinakes.access.landing_view import STALLED, Landing
from pinakes.access.readable import ReadableCaptures
from pinakes.access.recent import CachedState
from pinakes.access.views import StoreHealth
from pinakes.catalog.crawl_rows import CrawlEntry, read_crawl
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.holdings import NOTHING_HELD, Holdings
from pinakes.catalog.page_lists import ListedPage, PageLists
from pinakes.catalog.run_rows import RUNNING
from pinakes.catalog.wacz_rows import scan_wacz_files
from pinakes.errors import ConfigError, PinakesError
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, encode_urlkey
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .rendering import Links, render
from .url_list import has_captures

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
    def holdings(self) -> Holdings | None:
        return self.totals.holdings if self.totals is not None else None

    @property
    def latest_ms(self) -> int:
        return (self.totals.latest_ms if self.totals is not None else None) or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionLine:
    """A collection and its crawls, the latest landing first."""

    name: str
    crawls: tuple[CrawlLine, ...]

    @property
    def holdings(self) -> Holdings:
        return _sum(self.crawls)


def home_page(
    landing: CachedState[Landing],
    totals: CachedState[Mapping[str, CrawlTotals]],
    care: CachedState[Care],
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
        care=care.value,
        unfinished=UNFINISHED,
        health=health,
        collections=[
            CollectionLine(name=name, crawls=tuple(group))
            for name, group in groupby(crawls, key=lambda one: one.entry.facts.collection)
        ],
        crawls=len(crawls),
        held=_sum(crawls),
        busy=sum(run.state == RUNNING for run in landing.value.runs) if landing.value else 0,
        most=CRAWLS_SHOWN,
    )


def _sum(crawls: Iterable[CrawlLine]) -> Holdings:
    return sum((crawl.holdings or NOTHING_HELD for crawl in crawls), NOTHING_HELD)


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


PAGES = 100
MOST_LISTED = 100_000
"""Pages of a crawl that can be listed: each part of the list is read from the list's beginning."""
_WACZ_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """A listed page; `is_captured`: a capture of its URL may be shown.

    `position` is how many listed pages come before it, shown or not.
    """

    position: int
    url: str
    urlkey: str
    title: str
    second: str | None
    is_captured: bool


def crawl_page(
    captures: ReadableCaptures,
    crawl: str,
    *,
    totals: CachedState[Mapping[str, CrawlTotals]],
    after: int = 0,
    links: Links,
) -> str | None:
    """The page; None for a crawl that is not there, or may not be shown.

    `after` is how many listed pages are passed over.  Reads the lists of the crawl up to what is
    shown, and one row for each page.
    """
    try:
        entry = read_crawl(captures.rows, crawl)
    except ConfigError:  # no name of a crawl
        return None
    if entry is None or not captures.shows_crawl(crawl, entry.facts.collection):
        return None
    waczs = scan_wacz_files(captures.rows, entry.facts.collection, crawl)
    after = min(after, MOST_LISTED)
    why: str | None = None
    lines: list[PageLine] = []
    try:
        pages = PageLists(captures.archive, scan_entries(captures.rows, crawl))
        listed = islice(enumerate(pages), after, MOST_LISTED + PAGES)
        lines = list(islice(_lines(captures, entry, listed), PAGES + 1))
    except PinakesError as problem:  # a list that cannot be read is no reason to show nothing
        why = str(problem)
    following = lines[PAGES].position if len(lines) > PAGES else None
    return render(
        "crawl.html",
        links=links,
        entry=entry,
        totals=(totals.value or {}).get(crawl),
        waczs=list(islice(waczs, _WACZ_SHOWN + 1)),
        most_waczs=_WACZ_SHOWN,
        lines=lines[:PAGES],
        after=after,
        next=following if following is not None and following <= MOST_LISTED else None,
        why=why,
    )


def _lines(
    captures: ReadableCaptures, entry: CrawlEntry, listed: Iterator[tuple[int, ListedPage]]
) -> Iterator[PageLine]:
    for position, page in listed:
        key = encode_urlkey(urlkey(page.url))
        second = second_of(page.date) if page.date is not None else None
        time = second or UNREADABLE_TIME
        name = key.decode("ascii")
        if captures.shows(name, time, entry.crawl, entry.facts.collection):
            yield PageLine(
                position=position,
                url=page.url,
                urlkey=name,
                title=" ".join((page.title or "").split()),
                second=second,
                is_captured=has_captures(captures, key),
            )

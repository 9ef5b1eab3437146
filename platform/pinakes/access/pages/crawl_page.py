"""The page of a crawl: its state, its WACZ files, and the pages that these list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from pinakes.access.readable import ReadableCaptures
from pinakes.access.recent import Look
from pinakes.catalog.crawl_rows import CrawlEntry, read_crawl
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.page_lists import ListedPage, PageLists
from pinakes.catalog.wacz_rows import scan_wacz_files
from pinakes.errors import ConfigError, PinakesError
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, encode_urlkey
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .rendering import Links, render
from .url_list import has_captures

PAGES = 100
MOST_LISTED = 100_000
"""Behind so many pages nothing is looked for: a list is read from its beginning."""
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
    totals: Look[Mapping[str, CrawlTotals]],
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

"""The pages that a run is of: a sample of a crawl, or those of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.application.events import Notice
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.pages import pages_of
from pinakes.errors import InputRefused
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores
from pinakes.qa.sample import Population, SampledPage, draw

_NOT_LANDED = (FileState.LANDING, FileState.LOADING, FileState.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChoice:
    """Which pages of a crawl: a sample, or with `urls` those of a file of URLs."""

    crawl: str
    size: int
    seed: str
    seeds: str | None
    urls: str | None


def drawn_pages(
    stores: Stores, choice: PageChoice, on_event: Callable[[Notice], None]
) -> Iterator[SampledPage]:
    """The pages; `missing_pages` are those of a list that are missing.

    Files of the crawl that are not ingested are not represented by the sample; a notice at the
    end gives their number.

    Raises:
        InputRefused: the crawl does not exist, or a file cannot be read.
    """
    require_crawl(stores.rows, choice.crawl)
    population = Population(stores.rows, stores.archive, choice.crawl)
    if choice.urls:
        wanted = frozenset(map(urlkey, _lines(choice.urls)))
        pages = pages_of(stores.archive, scan_entries(stores.rows, choice.crawl))
        yield from (
            SampledPage(page, 1.0, is_always=True) for page in pages if page.urlkey in wanted
        )
    else:
        seeds = list(_lines(choice.seeds)) if choice.seeds else []
        yield from draw(population, size=choice.size, seed=choice.seed, seeds=seeds)
    if population.absent:
        what = "pages that WACZ files of the crawl list, and that are no captured HTML"
        on_event(Notice(f"{what}: {population.absent:,}"))
    if population.unread:
        what = f"lines in lists of pages that are no page: {population.unread:,}"
        on_event(Notice(what, level="warning"))
    entries = scan_entries(stores.rows, choice.crawl)
    not_landed = sum(entry.state in _NOT_LANDED for entry in entries)
    if not_landed:
        what = (
            f"files of the crawl {choice.crawl} that have not landed, and whose pages are left out"
        )
        on_event(Notice(f"{what}: {not_landed:,}", level="warning"))


def missing_pages(choice: PageChoice, drawn: Iterable[SampledPage]) -> list[str]:
    """The URLs of a list, or of seeds, that are not pages of the crawl."""
    asked = choice.urls or choice.seeds
    if not asked:
        return []
    found = {one.page.urlkey for one in drawn}
    return [url for url in _lines(asked) if urlkey(url) not in found]


def _lines(name: str) -> Iterator[str]:
    try:
        with Path(name).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from filter(None, map(str.strip, lines))
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error

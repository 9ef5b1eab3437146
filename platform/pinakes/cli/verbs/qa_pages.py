"""The pages for `pinakes qa`: a sample of a crawl, or those of a list."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.pages import pages_of
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores
from pinakes.qa.sample import Drawn, Population, draw

_SIZE = 500
_NOT_LANDED = (FileState.LANDING, FileState.LOADING, FileState.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChoice:
    """Which pages of a crawl: a sample, or with `urls` those of a file of URLs."""

    crawl: str
    size: int
    seed: str
    seeds: str | None
    urls: str | None


def add_pages(parser: argparse.ArgumentParser) -> None:
    """The options that draw a sample."""
    parser.add_argument("crawl", metavar="CRAWL", help="the crawl")
    parser.add_argument(
        "--size",
        metavar="N",
        type=int,
        default=_SIZE,
        help=f"number of pages, besides home pages and seeds (default: {_SIZE})",
    )
    parser.add_argument("--seed", metavar="TEXT", default="", help="random seed of the sample")
    named = parser.add_mutually_exclusive_group()
    named.add_argument("--seeds", metavar="FILE", help="the crawl's seed URLs, one per line")
    named.add_argument(
        "--urls", metavar="FILE", help="instead of a sample, the pages of these URLs, one per line"
    )


def choice_of(arguments: argparse.Namespace) -> PageChoice:
    """What `add_pages` has added.  Raises ConfigError for a size that is none."""
    if arguments.size < 0:
        raise ConfigError(f"--size is {arguments.size}; it must be 0 or more")
    return PageChoice(
        crawl=arguments.crawl,
        size=arguments.size,
        seed=arguments.seed,
        seeds=arguments.seeds,
        urls=arguments.urls,
    )


def drawn_pages(stores: Stores, choice: PageChoice, console: Console) -> Iterator[Drawn]:
    """The pages; `name_missing` names those of a list that are missing.

    Files of the crawl that are not ingested are not represented by the sample; a warning at the
    end gives their number.

    Raises:
        InputRefused: the crawl does not exist, or a file cannot be read.
    """
    require_crawl(stores.rows, choice.crawl)
    population = Population(stores.rows, stores.archive, choice.crawl)
    if choice.urls:
        wanted = frozenset(map(urlkey, _lines(choice.urls)))
        pages = pages_of(stores.archive, scan_entries(stores.rows, choice.crawl))
        yield from (Drawn(page, 1.0, is_always=True) for page in pages if page.urlkey in wanted)
    else:
        seeds = list(_lines(choice.seeds)) if choice.seeds else []
        yield from draw(population, size=choice.size, seed=choice.seed, seeds=seeds)
    if population.absent:
        console.say(
            f"pages that WACZ files of the crawl list, and that are no captured HTML: "
            f"{population.absent:,}"
        )
    if population.unread:
        console.warn(f"lines in lists of pages that are no page: {population.unread:,}")
    entries = scan_entries(stores.rows, choice.crawl)
    not_landed = sum(entry.state in _NOT_LANDED for entry in entries)
    if not_landed:
        console.warn(
            f"files of the crawl {choice.crawl} that have not landed, and whose pages are left "
            f"out: {not_landed:,}"
        )


def name_missing(choice: PageChoice, drawn: Iterable[Drawn], console: Console) -> int:
    """Name URLs that are not pages of the crawl; how many of a list are missing.

    A seed is named as well, but does not count: crawls have seeds without an answer.
    """
    asked = choice.urls or choice.seeds
    if not asked:
        return 0
    found = {one.page.urlkey for one in drawn}
    missing = [url for url in _lines(asked) if urlkey(url) not in found]
    for url in missing:
        console.warn(InputRefused(f"the crawl {choice.crawl} has no such page", file=url))
    return len(missing) if choice.urls else 0


def _lines(name: str) -> Iterator[str]:
    try:
        with Path(name).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from filter(None, map(str.strip, lines))
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error

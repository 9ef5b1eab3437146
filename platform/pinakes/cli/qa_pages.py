"""Which pages `pinakes qa` looks at: a sample of a crawl, or those of a list."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.cli.output import Console
from pinakes.errors import ConfigError, InputRefused
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores
from pinakes.qa.sample.draw import Drawn, draw
from pinakes.qa.sample.pages import pages_of

_SIZE = 500


def add_pages(parser: argparse.ArgumentParser) -> None:
    """The options that draw a sample."""
    parser.add_argument("crawl", metavar="CRAWL", help="the crawl")
    parser.add_argument(
        "--size",
        metavar="N",
        type=int,
        default=_SIZE,
        help=f"so many pages, and home pages and seeds besides (default: {_SIZE})",
    )
    parser.add_argument("--seed", metavar="TEXT", default="", help="another seed, another sample")
    parser.add_argument("--seeds", metavar="FILE", help="the crawl's seeds, a URL a line")
    parser.add_argument(
        "--urls", metavar="FILE", help="no sample: the pages of these URLs, one a line"
    )


def asked_for(arguments: argparse.Namespace) -> dict[str, Any]:
    """The same options, as what they were given as."""
    return {name: getattr(arguments, name) for name in ("crawl", "size", "seed", "seeds", "urls")}


def drawn_pages(stores: Stores, arguments: argparse.Namespace) -> Iterator[Drawn]:
    """The pages; `name_missing` says which of a list are not among them.

    Raises:
        ConfigError: for a size that is none.
        InputRefused: there is no such crawl, or a file cannot be read.
    """
    if arguments.size < 0:
        raise ConfigError(f"--size is {arguments.size}, and should be 0 or more")
    require_crawl(stores.rows, arguments.crawl)
    pages = pages_of(stores.archive, scan_entries(stores.rows, arguments.crawl))
    if not arguments.urls:
        seeds = list(_lines(arguments.seeds)) if arguments.seeds else []
        yield from draw(pages, size=arguments.size, seed=arguments.seed, seeds=seeds)
        return
    wanted = frozenset(map(urlkey, _lines(arguments.urls)))
    for page in pages:
        if page.urlkey in wanted:
            yield Drawn(page, 1.0, is_always=True)


def name_missing(arguments: argparse.Namespace, drawn: Iterable[Drawn], console: Console) -> int:
    """Name the URLs of the list that are no pages of the crawl; how many there are."""
    if not arguments.urls:
        return 0
    found = {one.page.urlkey for one in drawn}
    missing = [url for url in _lines(arguments.urls) if urlkey(url) not in found]
    for url in missing:
        console.warn(InputRefused(f"the crawl {arguments.crawl} has no such page", file=url))
    return len(missing)


def _lines(name: str) -> Iterator[str]:
    try:
        with Path(name).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from filter(None, map(str.strip, lines))
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error

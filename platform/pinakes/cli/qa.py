"""`pinakes qa`: do the pages of a crawl still look right."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.cli.exits import Exit
from pinakes.cli.options import add_settings, configuration_of
from pinakes.cli.output import Console, printable
from pinakes.errors import ConfigError, InputRefused
from pinakes.profile import Stores, open_stores
from pinakes.qa.sample.draw import Drawn, draw
from pinakes.qa.sample.pages import pages_of

_SIZE = 500


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each step."""
    nested = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    words = "draw pages of a crawl to look at"
    sample = nested.add_parser("sample", help=words, description=f"{words.capitalize()}.")
    sample.add_argument("crawl", metavar="CRAWL", help="the crawl")
    sample.add_argument(
        "--size",
        metavar="N",
        type=int,
        default=_SIZE,
        help=f"so many pages, beside home pages and seeds, which are always in (default: {_SIZE})",
    )
    sample.add_argument(
        "--seed", metavar="TEXT", default="", help="another seed, another sample (default: none)"
    )
    sample.add_argument("--seeds", metavar="FILE", help="the crawl's seeds, a URL a line")
    add_settings(sample, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    with open_stores(configuration_of(arguments)) as stores:
        return _ACTIONS[arguments.action](stores, arguments, console)


def _sample(stores: Stores, arguments: argparse.Namespace, console: Console) -> Exit:
    if arguments.size < 0:
        raise ConfigError(f"--size is {arguments.size}, and should be 0 or more")
    if read_crawl(stores.rows, arguments.crawl) is None:
        raise ConfigError(f"there is no crawl {arguments.crawl}: see `pinakes crawl list`")
    seeds = list(_lines(arguments.seeds)) if arguments.seeds else []
    pages = pages_of(stores.archive, scan_entries(stores.rows, arguments.crawl))
    count = 0
    for drawn in draw(pages, size=arguments.size, seed=arguments.seed, seeds=seeds):
        count += 1
        console.result(_as_object(drawn), text=_line(drawn))
    console.say(f"{count:,} pages")
    return Exit.DONE


def _lines(name: str) -> Iterator[str]:
    try:
        with Path(name).open(encoding="utf-8", errors="surrogateescape") as lines:
            yield from filter(None, map(str.strip, lines))
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error


def _as_object(drawn: Drawn) -> dict[str, object]:
    page = drawn.page
    return {
        "url": page.url,
        "time": page.second,
        "site": page.site,
        "media_type": page.media_type,
        "weight": drawn.weight,
        "always": drawn.is_always,
    }


def _line(drawn: Drawn) -> str:
    always = "  always" if drawn.is_always else ""
    return f"{drawn.page.second}  {drawn.weight:8.2f}  {printable(drawn.page.url)}{always}"


_ACTIONS: dict[str, Callable[[Stores, argparse.Namespace, Console], Exit]] = {"sample": _sample}

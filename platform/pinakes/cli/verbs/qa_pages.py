"""What verbs of `pinakes qa` share: the pages of a run, its folder, what people settled."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError, InputRefused
from pinakes.profile import Stores
from pinakes.qa.run.chosen_pages import PageChoice, missing_pages
from pinakes.qa.sample import SampledPage

if TYPE_CHECKING:
    from pinakes.qa.review.judgement import SettledLabel
    from pinakes.qa.review.reviewed_pair import ReviewedPair

_SIZE = 500


def add_pages(parser: argparse.ArgumentParser) -> None:
    """The options that draw a sample."""
    parser.add_argument("crawl", metavar="CRAWL", help="the crawl")
    option = options_of(parser)
    option(
        "--size N",
        f"number of pages, besides home pages and seeds (default: {_SIZE})",
        type=int,
        default=_SIZE,
    )
    option("--seed TEXT", "random seed of the sample", default="")
    named = options_of(parser.add_mutually_exclusive_group())
    named("--seeds FILE", "the crawl's seed URLs, one per line")
    named("--urls FILE", "instead of a sample, the pages of these URLs, one per line")


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


def name_missing(choice: PageChoice, drawn: Iterable[SampledPage], console: Console) -> int:
    """Name URLs that are not pages of the crawl; how many of a list are missing.

    A seed is named as well, but does not count: crawls have seeds without an answer.
    """
    missing = missing_pages(choice, drawn)
    for url in missing:
        console.warn(InputRefused(f"the crawl {choice.crawl} has no such page", file=url))
    return len(missing) if choice.urls else 0


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """The folder of a run that is read."""
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="the folder of a run (`qa run -o DIR`)"
    )


def settled_pairs(
    folder: Path, stores: Stores, console: Console
) -> list[tuple[ReviewedPair, SettledLabel | None]]:
    """By rank; None if not settled.  `Raises` as `read_pairs`, and StoreUnavailable.

    Warns if the store does not know the run: it is probably the wrong store.
    """
    from pinakes.qa.result_rows import is_known
    from pinakes.qa.review.judgement_rows import scan_settled
    from pinakes.qa.review.reviewed_pair import reviewed_pairs
    from pinakes.qa.run.run_folder import read_pairs  # these need the extra

    pairs, _ = reviewed_pairs(read_pairs(folder))
    if not pairs:
        return []
    run = pairs[0].judged.result.run
    if not is_known(stores.rows, run):
        console.warn(f"run {run} is unknown to this store, and so are its judgements: {folder}")
    settled = dict(scan_settled(stores.rows, run))
    return [(pair, settled.get(pair.key)) for pair in pairs]

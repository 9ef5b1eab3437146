"""`pinakes generations`: old generations of files, and dropping them."""

from __future__ import annotations

import argparse

from pinakes.application.generations import drop_generations, list_generations
from pinakes.cli.frame.event_printer import next_command
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.backup import moment
from pinakes.cli.verbs.dedupe_printing import say_dropped
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.profile import Stores, open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """Of what, and whether they go."""
    parser.add_argument(
        "crawl", metavar="CRAWL", nargs="?", help="only of this crawl (default: a collection)"
    )
    option = options_of(parser)
    option("--drop", "delete those that were replaced for the grace time")
    option(
        "--grace SECONDS",
        "how long an old generation is kept (default: 86400, a day)",
        type=int,
        default=86_400,
    )
    add_dry_run(parser)
    add_settings(parser, "store", "collection")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """List or drop them; exit 3 where some are kept that were to go."""
    configuration = configuration_of(arguments)
    with open_stores(configuration) as stores:
        if not arguments.drop:
            _list(stores, arguments.crawl, configuration, console)
            return Exit.DONE
        plan = arguments.dry_run
        report = drop_generations(
            stores,
            configuration.collection,
            crawl=arguments.crawl,
            grace_ms=arguments.grace * 1000,
            on_dropped=lambda one: say_dropped(one, console, is_plan=plan),
            plan=plan,
        )
    for problem in report.problems:
        console.warn(problem)
    size = sum(one.size for one in report.dropped)
    would = "would drop" if plan else "dropped"
    words = f"{would} {count_of(len(report.dropped), 'old generation')}, {count_of(size, 'byte')}"
    if report.files_mended:
        mended = count_of(report.files_mended, "file")
        words += f"; {mended} mended by old ones, which stay: run `pinakes fsck --full`"
    if report.problems:
        words += f"; {len(report.problems):,} kept (named above)"
    console.say(words)
    return Exit.SOME_FAILED if report.problems else Exit.DONE


def _list(
    stores: Stores, crawl: str | None, configuration: Configuration, console: Console
) -> None:
    number = size = 0
    for one in list_generations(stores, configuration.collection, crawl=crawl):
        number += 1
        size += one.size
        since = "at a time that is lost" if one.replaced_ms is None else moment(one.replaced_ms)
        console.result(
            {
                "generation": one.name,
                "file": one.archive_file,
                "bytes": one.size,
                "replaced_ms": one.replaced_ms,
            },
            text=f"{printable(one.name)}  {count_of(one.size, 'byte')}  replaced {since}",
        )
    words = "--drop" if crawl is None else f"{crawl} --drop"
    drop = next_command(f"generations {words}", configuration, "collection")
    held = f"{count_of(number, 'old generation')}, {count_of(size, 'byte')}"
    console.say(
        f"{held}; {drop} deletes those replaced more than a day ago (--grace)" if number else held
    )

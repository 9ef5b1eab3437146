"""`pinakes crawl`: the crawls of the store, their state, and what becomes of them."""

from __future__ import annotations

import argparse

from pinakes.acts.actor import Actor
from pinakes.application.crawls import read_needs, read_statistics
from pinakes.application.deleting import remove_crawl
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    action_parsers,
    add_dry_run,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.crawl_deletion import add_removal_options, say_removal
from pinakes.cli.verbs.crawl_printing import (
    say_commit,
    say_crawl,
    say_crawls,
    say_requirements,
    say_statistics,
)
from pinakes.ingest.commit import commit_crawl
from pinakes.profile import open_stores

_WORDS = {
    "list": "list all crawls, one per line",
    "show": "show a crawl and its files",
    "commit": "make an open crawl final",
    "remove": "remove a crawl, and see to what refers to it",
    "requires": "show what a crawl needs of others, and they of it, by file",
    "stats": "count what a crawl holds, and list what was done to it",
}
_WRITES = ("commit", "remove")
_OLD_NAMES = {"cancel": "remove", "purge": "remove"}


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each thing to do with a crawl."""
    for name, one in action_parsers(parser, _WORDS, old_names=_OLD_NAMES).items():
        if name == "list":
            options_of(one)("--all", "also crawls that were removed")
        else:
            one.add_argument("crawl", metavar="ID", help="crawl ID")
        if name in ("list", "show"):
            options_of(one)(
                "--counts", "count URLs, duplicates and bytes as Browsertrix does; reads sidecars"
            )
        if name == "remove":
            add_removal_options(one)
        if name in _WRITES:
            add_dry_run(one)
        add_settings(one, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    configuration, action = configuration_of(arguments), arguments.action
    crawl, is_complete = getattr(arguments, "crawl", ""), True
    if arguments.old_name is not None:
        console.say(f"`pinakes crawl {arguments.old_name}` is `pinakes crawl {action}` now")
    with open_stores(configuration) as stores:
        if action == "list":
            counts, ended = arguments.counts, arguments.all
            is_complete = say_crawls(stores, console, counts=counts, ended=ended)
        elif action == "show":
            say_crawl(stores, crawl, console, counts=arguments.counts)
        elif action == "requires":
            say_requirements(crawl, read_needs(stores, crawl), console)
        elif action == "stats":
            say_statistics(crawl, read_statistics(stores, crawl, configuration), console)
        elif action == "commit":
            dry_run = arguments.dry_run
            done = commit_crawl(stores.rows, stores.archive, crawl, Actor(), dry_run=dry_run)
            say_commit(crawl, done, console, dry_run=dry_run)
        else:
            only_says = arguments.plan or arguments.dry_run
            report = remove_crawl(stores, crawl, arguments.references, plan=only_says)
            say_removal(report, console, only_says=only_says, lists_changes=arguments.plan)
            is_complete = report.is_complete
    return Exit.DONE if is_complete else Exit.SOME_FAILED

"""`pinakes crawl`: the crawls of the store, their state, and what becomes of them."""

from __future__ import annotations

import argparse

from pinakes.acts.actor import Actor
from pinakes.application.crawls import read_needs, read_statistics
from pinakes.application.deleting import purge_crawl, remove_crawl
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    action_parsers,
    add_dry_run,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.crawl_deletion import add_purge_options, say_purge, say_removal
from pinakes.cli.verbs.crawl_printing import (
    say_commit,
    say_crawl,
    say_crawls,
    say_requirements,
    say_statistics,
)
from pinakes.deletion.requests import CRAWL_DELETIONS, PurgeRequest
from pinakes.ingest.commit import commit_crawl
from pinakes.profile import open_stores

_WORDS = {
    "list": "list all crawls, one per line",
    "show": "show a crawl and its files",
    "commit": "make an open crawl final",
    "cancel": "remove an open crawl",
    "remove": "remove a committed crawl, if no other crawl refers to it",
    "requires": "show what a crawl needs of others, and they of it, by file",
    "purge": "remove a crawl, and see to references of other crawls to it",
    "stats": "count what a crawl holds, and list what was done to it",
}
_WRITES = ("commit", "cancel", "remove", "purge")


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each thing to do with a crawl."""
    for name, one in action_parsers(parser, _WORDS).items():
        if name != "list":
            one.add_argument("crawl", metavar="ID", help="crawl ID")
        if name in ("list", "show"):
            options_of(one)(
                "--counts", "count URLs, duplicates and bytes as Browsertrix does; reads sidecars"
            )
        if name == "purge":
            add_purge_options(one)
        if name in _WRITES:
            add_dry_run(one)
        add_settings(one, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    configuration, action = configuration_of(arguments), arguments.action
    crawl, is_complete = getattr(arguments, "crawl", ""), True
    with open_stores(configuration) as stores:
        if action == "list":
            is_complete = say_crawls(stores, console, counts=arguments.counts)
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
        elif action == "purge":
            only_says = arguments.plan or arguments.dry_run
            wanted = PurgeRequest(crawl=crawl, references=arguments.references)
            report = purge_crawl(stores, wanted, plan=only_says)
            say_purge(report, console, only_says=only_says, lists_changes=arguments.plan)
            is_complete = report.is_complete
        else:
            how, dry_run = CRAWL_DELETIONS[action], arguments.dry_run
            report = remove_crawl(stores, crawl, how, plan=dry_run)
            say_removal(report, how, console, only_says=dry_run)
            is_complete = report.is_complete
    return Exit.DONE if is_complete else Exit.SOME_FAILED

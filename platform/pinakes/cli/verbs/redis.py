"""`pinakes redis`: an index that crawlers share, written to a Redis and read from it."""

from __future__ import annotations

import argparse

from pinakes.access.rules import parse_rules
from pinakes.application.sharing import (
    export_crawls,
    export_sorted_set,
    import_crawls,
    import_sorted_set,
)
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    action_parsers,
    add_dry_run,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.redis_printing import say_exported, say_imported
from pinakes.counts import count_of
from pinakes.dedupe.decide.policy import parse_policies
from pinakes.errors import ConfigError
from pinakes.profile import open_stores
from pinakes.shared_index.gathered import DECLARED, SHA256
from pinakes.shared_index.keys import CODE, DOCUMENTED
from pinakes.shared_index.server import open_server
from pinakes.shared_index.sorted_set import KEY, key_of

BROWSERTRIX, PYWB = "browsertrix", "pywb"


def configure(parser: argparse.ArgumentParser) -> None:
    """Out, and in."""
    for name, one in action_parsers(parser, _WORDS).items():
        option = options_of(one)
        one.add_argument("collection", metavar="COLLECTION", help="collection that it is of")
        option(
            "--for",
            "browsertrix: its keys of digests; pywb: the sorted set of its recorder "
            "(default: browsertrix)",
            dest="crawler",
            choices=(BROWSERTRIX, PYWB),
            default=BROWSERTRIX,
        )
        option("--crawl ID", "only this crawl; may be repeated", action="append")
        option("--key KEY", f"the key of pywb's sorted set (default: {KEY})")
        if name == "export":
            option(
                "--spelling",
                "of Browsertrix's keys: as its code has them, alldupes, digests without "
                "label; or its documentation, allhashes, with label (default: code)",
                choices=(CODE, DOCUMENTED),
            )
            option(
                "--digests",
                "those that records declare, or SHA-256 of all bodies, which Browsertrix "
                "looks up (default: declared)",
                choices=(DECLARED, SHA256),
            )
        else:
            add_dry_run(one)
        add_settings(one, "store", "redis", "spill_bytes", "temp_dir")


_WORDS = {
    "export": "write what crawlers may refer to into a Redis",
    "import": "take what crawlers have written to a Redis, as reports of open crawls",
}


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write to the Redis, or read it."""
    configuration, printer = configuration_of(arguments), EventPrinter(console)
    collection, crawls = arguments.collection, tuple(arguments.crawl or ())
    of_pywb, writes = arguments.crawler == PYWB, arguments.action == "export"
    for name in ("crawl", "spelling", "digests") if of_pywb else ("key",):
        if getattr(arguments, name, None) is not None:
            raise ConfigError(f"--{name} says nothing with --for {arguments.crawler}: leave it out")
    if configuration.redis is None:
        raise ConfigError(
            "say which Redis: --redis redis://HOST:PORT/DATABASE, or the setting redis"
        )
    key = key_of(arguments.key or KEY, collection)
    with open_stores(configuration) as stores, open_server(configuration.redis) as server:
        if of_pywb and writes:
            lines = export_sorted_set(stores, server, collection, key, on_problem=printer)
            console.result(
                {"key": key.decode(), "lines": lines.lines, "taken_out": lines.taken_out},
                text=f"{printable(key.decode())}: {count_of(lines.lines, 'line')} written, "
                f"{lines.taken_out:,} taken out",
            )
        elif of_pywb:
            dry_run = arguments.dry_run
            count = import_sorted_set(
                stores, server, collection, key, on_problem=printer, dry_run=dry_run
            )
            console.result(
                {"key": key.decode(), "lines": count},
                text=f"{printable(key.decode())}: {count_of(count, 'line')} of other archives "
                f"{'would be ' if dry_run else ''}taken",
            )
        elif writes:
            done = export_crawls(
                stores,
                server,
                collection,
                crawls,
                spelling=arguments.spelling or CODE,
                digests=arguments.digests or DECLARED,
                rules=parse_rules(configuration.access),
                policies=parse_policies(configuration.dedupe),
            )
            say_exported(done, collection, console)
        else:
            for one in import_crawls(
                stores, server, collection, crawls, on_problem=printer, dry_run=arguments.dry_run
            ):
                say_imported(one, console)
    return printer.exit()

"""`pinakes redis`: an index that crawlers share, written to a Redis and read from it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.wanted import wants_of
from pinakes.access.rules import parse_rules
from pinakes.acts.actor import Actor
from pinakes.cli.frame.actions import action_parsers
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.dedupe.decide.policy import parse_policies
from pinakes.errors import ConfigError, InputRefused, MalformedRecord
from pinakes.index.external_sort import SortSpace
from pinakes.profile import Stores, open_stores
from pinakes.shared_index.crawls import read_shared_crawls
from pinakes.shared_index.exporting import Exported, Exporter
from pinakes.shared_index.gathered import DECLARED, SHA256, Gathered
from pinakes.shared_index.importing import ImportedCrawl, Importer
from pinakes.shared_index.keys import CODE, DOCUMENTED
from pinakes.shared_index.server import SharedServer, open_server
from pinakes.shared_index.sorted_set import (
    KEY,
    crawls_of,
    export_lines,
    import_lines,
    iter_lines,
    key_of,
)
from pinakes.warc.dates import format_14

BROWSERTRIX, PYWB = "browsertrix", "pywb"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisRequest:
    """What is exchanged, and how; no `crawls`: all of them."""

    collection: str
    crawler: str
    crawls: tuple[str, ...] = ()
    spelling: str = CODE
    digests: str = DECLARED
    key: str = KEY
    dry_run: bool = False


def configure(parser: argparse.ArgumentParser) -> None:
    """Out, and in."""
    for name, one in action_parsers(parser, _WORDS).items():
        one.add_argument("collection", metavar="COLLECTION", help="collection that it is of")
        one.add_argument(
            "--for",
            dest="crawler",
            choices=(BROWSERTRIX, PYWB),
            default=BROWSERTRIX,
            help="browsertrix: its keys of digests; pywb: the sorted set of its recorder "
            "(default: browsertrix)",
        )
        one.add_argument(
            "--crawl", action="append", metavar="ID", help="only this crawl; may be repeated"
        )
        one.add_argument(
            "--key", metavar="KEY", help=f"the key of pywb's sorted set (default: {KEY})"
        )
        if name == "export":
            one.add_argument(
                "--spelling",
                choices=(CODE, DOCUMENTED),
                help="of Browsertrix's keys: as its code has them, alldupes, digests without "
                "label; or its documentation, allhashes, with label (default: code)",
            )
            one.add_argument(
                "--digests",
                choices=(DECLARED, SHA256),
                help="those that records declare, or SHA-256 of all bodies, which Browsertrix "
                "looks up (default: declared)",
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
    configuration = configuration_of(arguments)
    request = request_of(arguments)
    act = {
        ("export", BROWSERTRIX): _export_crawls,
        ("import", BROWSERTRIX): _import_crawls,
        ("export", PYWB): _export_lines,
        ("import", PYWB): _import_lines,
    }[arguments.action, request.crawler]
    if configuration.redis is None:
        raise ConfigError(
            "say which Redis: --redis redis://HOST:PORT/DATABASE, or the setting redis"
        )
    with open_stores(configuration) as stores, open_server(configuration.redis) as server:
        return act(_Exchange(server, stores, configuration, console), request)


def request_of(arguments: argparse.Namespace) -> RedisRequest:
    """Raises ConfigError for an option that says nothing about what is asked for."""
    given = {
        "crawl": arguments.crawl,
        "spelling": getattr(arguments, "spelling", None),
        "digests": getattr(arguments, "digests", None),
        "key": arguments.key,
    }
    foreign = ("crawl", "spelling", "digests") if arguments.crawler == PYWB else ("key",)
    for name in foreign:
        if given[name] is not None:
            raise ConfigError(f"--{name} says nothing with --for {arguments.crawler}: leave it out")
    return RedisRequest(
        collection=arguments.collection,
        crawler=arguments.crawler,
        crawls=tuple(arguments.crawl or ()),
        spelling=given["spelling"] or CODE,
        digests=given["digests"] or DECLARED,
        key=arguments.key or KEY,
        dry_run=getattr(arguments, "dry_run", False),
    )


class _Exchange:
    """The two sides, and what is told of them."""

    def __init__(
        self, server: SharedServer, stores: Stores, configuration: Configuration, console: Console
    ) -> None:
        self.server = server
        self.stores = stores
        self.configuration = configuration
        self.console = console
        self.actor = Actor()
        self.failed = False
        self.space = SortSpace(
            memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir
        )

    def warn(self, problem: InputRefused | MalformedRecord) -> None:
        self.failed = True
        self.console.warn(problem)

    @property
    def exit(self) -> Exit:
        return Exit.SOME_FAILED if self.failed else Exit.DONE


def _export_crawls(exchange: _Exchange, request: RedisRequest) -> Exit:
    rows = exchange.stores.rows
    rules = parse_rules(exchange.configuration.access)
    policies = parse_policies(exchange.configuration.dedupe)
    lines = CdxIndex(rows, exchange.stores.archive, rules=rules).lines
    now = datetime.now(timezone.utc)
    crawls = read_shared_crawls(
        rows,
        request.collection,
        request.crawls,
        hides=lambda crawl: rules.hides(collection=request.collection, crawl=crawl),
    )
    gathered = crawls.gather(
        rows,
        lines.files,
        admits=lines.admits,
        gives=lines.gives,
        wants_of=lambda crawl: wants_of(policies, request.collection, crawl, now=format_14(now)),
        digests=request.digests,
        space=exchange.space,
    )
    exporter = Exporter(
        exchange.server,
        request.collection,
        crawls.states,
        crawls.waczs,
        crawls.count(rows, exchange.stores.archive),
        openings=crawls.openings,
        withheld=crawls.withheld,
        unnamed=crawls.unnamed,
        spelling=request.spelling,
        token=exchange.actor.new_token(),
        now=f"{now:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
    )
    done = exporter.export(gathered, whole=not request.crawls)
    for crawl, digests in sorted(done.digests.items()):
        state = crawls.states[crawl]
        exchange.console.result(
            {"crawl": crawl, "state": state, "outcome": "written", "digests": digests},
            text=f"{crawl}: written, {state}, {count_of(digests, 'digest')}",
        )
    if not crawls.chosen:
        nothing = "no crawl is open or committed and may be given out"
        exchange.console.say(f"{request.collection}: {nothing}")
    _say_rest(exchange.console, done, gathered)
    return Exit.DONE


def _say_rest(console: Console, done: Exported, gathered: Gathered) -> None:
    for crawl, why in done.left.items():
        console.result({"crawl": crawl, "outcome": "left"}, text=f"{crawl}: left as it is: {why}")
    for crawl in done.taken_out:
        console.result({"crawl": crawl, "outcome": "taken out"}, text=f"{crawl}: taken out")
    if gathered.several_bodies:
        console.say(
            f"{count_of(gathered.several_bodies, 'digest')} left out: several bodies have them"
        )
    if gathered.unwritable:
        console.say(
            f"{count_of(gathered.unwritable, 'capture')} left out: "
            "a blank in their URL, or no UTF-8"
        )
    for why, number in sorted(gathered.unwanted.items()):
        console.say(f"{count_of(number, 'capture')} left out: {why}")
    if gathered.withheld:
        console.say(
            f"{count_of(gathered.withheld, 'reported digest')} left out: look-ups do not give them"
        )


def _import_crawls(exchange: _Exchange, request: RedisRequest) -> Exit:
    importer = Importer(
        exchange.server,
        exchange.stores.rows,
        request.collection,
        act=exchange.actor.new_act("redis-import"),
        act_time_ms=exchange.actor.now_ms(),
        space=exchange.space,
        on_problem=exchange.warn,
    )
    for one in importer.import_crawls(request.crawls, dry_run=request.dry_run):
        _say_imported(exchange.console, one)
    return exchange.exit


def _say_imported(console: Console, one: ImportedCrawl) -> None:
    count = f"{count_of(one.reported, 'digest')} " if one.reported else ""
    missing = [file._asdict() for file in one.missing]
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(one.left_out.items()))
    left_out = f"; left out: {reasons}" if reasons else ""
    lines = [f"{one.crawl}: {count}{one.outcome}{left_out}"]
    lines += [
        f"  never imported here: {printable(file.name)}"
        + (f"  {file.sha256}" if file.sha256 is not None else "  (not yet there)")
        for file in one.missing
    ]
    console.result(
        {
            "crawl": one.crawl,
            "outcome": one.outcome,
            "reported": one.reported,
            "left_out": dict(one.left_out),
            "missing": missing,
        },
        text="\n".join(lines),
    )


def _export_lines(exchange: _Exchange, request: RedisRequest) -> Exit:
    stores, key = exchange.stores, key_of(request.key, request.collection)
    done = export_lines(
        exchange.server,
        key,
        crawls_of(stores.rows, request.collection),
        lambda crawls: iter_lines(
            stores.rows, stores.archive, crawls, on_unplaced=_unplaced(exchange.warn)
        ),
        token=exchange.actor.new_token(),
    )
    exchange.console.result(
        {"key": key.decode(), "lines": done.lines, "taken_out": done.taken_out},
        text=f"{printable(key.decode())}: {count_of(done.lines, 'line')} written, "
        f"{done.taken_out:,} taken out",
    )
    return exchange.exit


def _unplaced(warn: Callable[[MalformedRecord], None]) -> Callable[[str, int, str], None]:
    def warn_of(file: str, offset: int, why: str) -> None:
        warn(MalformedRecord(f"{why}: left out", file=file, offset=offset))

    return warn_of


def _import_lines(exchange: _Exchange, request: RedisRequest) -> Exit:
    key = key_of(request.key, request.collection)
    count = import_lines(
        exchange.server,
        key,
        exchange.stores.rows,
        request.collection,
        act_time_ms=exchange.actor.now_ms(),
        folder=exchange.configuration.temp_dir,
        on_problem=exchange.warn,
        dry_run=request.dry_run,
    )
    would = "would be " if request.dry_run else ""
    exchange.console.result(
        {"key": key.decode(), "lines": count},
        text=f"{printable(key.decode())}: {count_of(count, 'line')} of other archives {would}taken",
    )
    return exchange.exit

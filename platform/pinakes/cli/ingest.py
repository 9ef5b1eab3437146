"""`pinakes ingest`: land archive files into a crawl."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator
from pathlib import Path

from pinakes import __version__
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.cli.exits import Exit
from pinakes.cli.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.options import (
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
    input_names,
)
from pinakes.cli.output import Console, printable
from pinakes.cli.progress import Progress, SilentProgress
from pinakes.errors import ConfigError, Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.run_cells import CrawlFacts, RunFacts
from pinakes.ingest.acts import Actor
from pinakes.ingest.hooks import HOOKS, Handover, hand_over, refuse_wacz
from pinakes.ingest.inputs import Input, iter_inputs
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.tally import Tally
from pinakes.ingest.watch import SETTLE_S, Seen, follow, look_at
from pinakes.profile import open_stores

# A landing makes a hundred objects a record and no cycles: looking for those cost 4%.
_GC_THRESHOLD = 100_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Files or folders, and the crawl they belong to."""
    add_inputs(parser, "PATH", "archive files, or folders of them")
    parser.add_argument(
        "--crawl", metavar="ID", help="the crawl they belong to (a hook has one of its own)"
    )
    parser.add_argument(
        "--hook",
        choices=sorted(HOOKS),
        help="PATH is what this crawler left: a job folder, a collection or webhook, its files",
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on landing what stands still, until stopped"
    )
    parser.add_argument(
        "--settle",
        metavar="SECONDS",
        type=_seconds,
        default=SETTLE_S,
        help="with --watch: how long size and time stand still first (default: %(default)g)",
    )
    add_settings(parser, "store", "collection")
    add_dry_run(parser)
    add_metrics_file(parser)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise ValueError(text)
    return seconds


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what landed, was there, or was refused and why."""
    configuration = configuration_of(arguments)
    if arguments.watch and arguments.dry_run:
        raise ConfigError("--watch and --dry-run do not go together")
    names = list(input_names(arguments))
    found = _found(arguments, names)
    if found.crawl == "":
        raise ConfigError("which crawl do they belong to? name it with --crawl")
    if arguments.dry_run:
        return _plan(found, console)
    gc.set_threshold(_GC_THRESHOLD)
    actor, tally = Actor(), Tally()
    with (
        metrics_file(arguments, tally, console) as job,
        open_stores(configuration, tally=tally) as stores,
    ):
        facts = CrawlFacts(
            collection=configuration.collection,
            source=arguments.hook or "files",
            description=found.description,
        )
        act, now_ms = actor.new_act("ingest"), actor.now_ms()
        ensure_crawl(stores.rows, found.crawl, facts, act=act, act_time_ms=now_ms)
        run_facts = RunFacts(
            verb="ingest",
            act_time_ms=now_ms,
            software=f"pinakes {__version__}",
            collection=configuration.collection,
        )
        with LandingRun(
            stores.rows, actor, tally, run=act, facts=run_facts, crawl=found.crawl, also=job.write
        ) as told:
            lander = Lander(stores.rows, stores.archive, actor)
            landing = _Landing(lander, told, found.crawl, configuration.collection, console)
            if arguments.watch:
                landing.watch(arguments, names)
            landing.note_left(found.left)
            if not found.inputs and not found.left:
                console.warn("nothing to land: no archive file there")
            with console.progress("ingest", total=_size(found.inputs)) as progress:
                for item in found.inputs:
                    landing.land(item, progress)
        job.exit = Exit.SOME_FAILED if landing.failed else Exit.DONE
    return job.exit


def _found(arguments: argparse.Namespace, names: list[str]) -> Handover:
    if arguments.hook:
        found = hand_over(arguments.hook, names)
        return found._replace(crawl=arguments.crawl or found.crawl)
    left: list[Path] = []
    # While watching, the first look is like every other: it lists anew.
    inputs = [] if arguments.watch else list(iter_inputs(names, left))
    return Handover(arguments.crawl or "", None, inputs, left)


def _plan(found: Handover, console: Console) -> Exit:
    for path in found.left:
        console.warn(f"{printable(path)}: a writer still has it; left")
    for path, name in found.inputs:
        identity = archive_file(found.crawl, name)
        console.result({"file": identity, "from": str(path)}, text=f"{path} -> {identity}")
    return Exit.DONE


class _Landing:
    """Lands one input after the other, and says of each what became of it."""

    def __init__(
        self, lander: Lander, told: LandingRun, crawl: str, collection: str, console: Console
    ) -> None:
        self._lander = lander
        self._told = told
        self._crawl = crawl
        self._collection = collection
        self._console = console
        self._noted: set[Path] = set()
        self.failed = False

    def land(self, item: Input, progress: Progress) -> None:
        """One file; what is refused is named, and the rest goes on."""
        try:
            refuse_wacz(item)
            identity = archive_file(self._crawl, item.name)
            landed = self._lander.land(item.path, identity, self._collection)
        except (InputRefused, Conflict, DigestMismatch) as problem:
            self._console.warn(problem)
            self._told.missed(problem)
            self.failed = True
        else:
            self._told.landed(landed)
            self.failed = _report(landed, str(item.path), self._console) or self.failed
            progress.advance(landed.size)
            self._console.flush()  # a watch goes on for days, and its reader waits

    def note_left(self, left: list[Path]) -> None:
        """Name each file that a writer still has, once."""
        for path in left:
            if path not in self._noted:
                self._noted.add(path)
                self._console.warn(f"{printable(path)}: a writer still has it; left")

    def watch(self, arguments: argparse.Namespace, names: list[str]) -> None:
        """Land what settles, until a signal raises."""

        def listing() -> Iterator[Seen]:
            self._told.beat()
            left: list[Path] = []
            if arguments.hook:
                found = hand_over(arguments.hook, names)
                inputs, left = found.inputs, found.left
            else:
                inputs = list(iter_inputs(names, left))
            self.note_left(left)
            return look_at(inputs)

        follow(
            listing,
            lambda item: self.land(item, SilentProgress()),
            lambda item, why: self._console.warn(f"{printable(item.path)}: {why}"),
            settle_s=arguments.settle,
            clock=time.monotonic,
            sleep=time.sleep,
        )


def _report(landed: Landed, path: str, console: Console) -> bool:
    """Say what landed; whether nothing in the file could be read."""
    what = "was there" if landed.was_there else "landed"
    console.result(
        {
            "file": landed.archive_file,
            "outcome": what,
            "bytes": landed.size,
            "sha256": landed.sha256,
            "records": dict(landed.records),
            "captures": landed.captures,
            "errors": dict(landed.errors),
        },
        text=f"{printable(landed.archive_file)}: {what}, {landed.size:,} bytes"
        + ("" if landed.was_there else f", {landed.captures:,} captures"),
    )
    for line in landed.lines:
        console.warn(f"{printable(path)}:{printable(line)}")
    unread = not landed.was_there and not landed.records
    if unread:
        console.warn(f"{printable(path)}: landed as it is, but no record in it could be read")
    return unread


def _size(inputs: list[Input]) -> int:
    return sum(seen.status.size for seen in look_at(inputs))

"""`pinakes ingest`: land archive files into a crawl."""

from __future__ import annotations

import argparse
import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.archive_store.located import size_at
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.left_out import say_others
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import (
    add_accept_damaged,
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
    inputs_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress, SilentProgress
from pinakes.cli.frame.store_place import next_command, store_place
from pinakes.cli.frame.workers import Workers
from pinakes.cli.verbs.ingest_bulk import Spool, bulk_crew, spool_of
from pinakes.cli.verbs.ingest_loop import Alone, Answered, Crew, IngestLoop
from pinakes.config import Configuration
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.run_cells import CrawlFacts, RunFacts
from pinakes.hbase_schema.text import check_name
from pinakes.ingest.attempts import Attempt, Landings
from pinakes.ingest.copying import direct_writer
from pinakes.ingest.hooks import HOOKS, Handover, hand_over
from pinakes.ingest.inputs import Input, LeftOut, iter_inputs
from pinakes.ingest.landing import Lander, check_input
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.overlapped import overlapped_file, overlapped_rows
from pinakes.ingest.tally import ARCHIVE_RETRIES, Tally
from pinakes.ingest.watch import SETTLE_S, Seen, look_at
from pinakes.profile import Stores, open_stores
from pinakes.warc.file_progress import Advance

# A landing makes a hundred objects a record and no cycles: looking for those cost 4%.
_GC_THRESHOLD = 100_000
_NOTHING_FOUND = "nothing to ingest: no archive files found"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """Which files to land, as they were named, into which crawl, and how."""

    names: list[str]
    crawl: str | None
    hook: str | None
    settle_s: float | None
    """How long a file stands still before it lands; None: do not watch."""
    bulk: bool
    accepts_damaged: bool
    metrics: Path | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Files or folders, and the crawl they belong to."""
    add_inputs(parser, "PATH", "archive files, folders or WACZ packages; also URLs")
    parser.add_argument(
        "--crawl",
        metavar="ID",
        help="crawl that the files belong to (with --hook: default from the crawler)",
    )
    parser.add_argument(
        "--hook",
        choices=sorted(HOOKS),
        help="PATH is the output of this crawler: a job folder, a collection or webhook, files",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="keep watching: ingest files that no longer change, until stopped",
    )
    parser.add_argument(
        "--settle",
        metavar="SECONDS",
        type=_seconds,
        default=SETTLE_S,
        help="with --watch: wait until a file has not changed for so long (default: %(default)g)",
    )
    parser.add_argument(
        "--bulk",
        action="store_true",
        help="for large collections: load the rows of many files at once (docs/bulk-load.md)",
    )
    parser.add_argument(
        "-j", "--jobs", metavar="N", help="number of processes, one file each (default: 1)"
    )
    add_accept_damaged(parser)
    add_settings(parser, "store", "collection")
    add_dry_run(parser)
    add_metrics_file(parser)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what landed, was there, or was refused and why."""
    configuration = configuration_of(arguments)
    if arguments.watch and arguments.dry_run:
        raise ConfigError("--watch and --dry-run cannot be combined")
    if arguments.watch and arguments.bulk:
        raise ConfigError("--bulk and --watch cannot be combined")
    request = IngestRequest(
        names=list(inputs_of(arguments)),
        crawl=arguments.crawl,
        hook=arguments.hook,
        settle_s=arguments.settle if arguments.watch else None,
        bulk=arguments.bulk,
        accepts_damaged=arguments.accept_damaged,
        metrics=arguments.metrics_file,
    )
    found = _found(request)
    if found.crawl == "":
        raise ConfigError("no crawl given: name it with --crawl")
    check_name(found.crawl, "a crawl")
    if arguments.dry_run:
        return _plan(found, console)
    return _ingest(request, found, configuration, console)


def _ingest(
    request: IngestRequest, found: Handover, configuration: Configuration, console: Console
) -> Exit:
    gc.set_threshold(_GC_THRESHOLD)
    actor, tally = Actor(), Tally()
    watches = request.settle_s is not None
    jobs = configuration.jobs if watches else min(configuration.jobs, len(found.inputs))
    spool = spool_of(actor, configuration) if request.bulk else None
    with (
        metrics_file(request.metrics, "ingest", tally, console) as job,
        _several(jobs, configuration, found.crawl, spool, request) as several,
        open_stores(configuration, tally=tally) as stores,
    ):
        facts = CrawlFacts(
            collection=configuration.collection,
            source=request.hook or "files",
            description=found.description,
        )
        act, now_ms = actor.new_act("ingest"), actor.now_ms()
        begins = watches or any(_why_not(item, found.crawl) is None for item in found.inputs)
        if begins:
            # Any name will do: where the archive is away, nothing is put, and no empty crawl stays.
            stores.archive.size(act)
            ensure_crawl(stores.rows, found.crawl, facts, act=act, act_time_ms=now_ms)
        run_facts = RunFacts(
            verb="ingest",
            act_time_ms=now_ms,
            software=SOFTWARE,
            collection=configuration.collection,
        )
        with (
            LandingRun(
                stores.rows,
                actor,
                tally,
                run=act,
                facts=run_facts,
                crawl=found.crawl if begins else None,
                also=job.write,
            ) as landing_run,
            ExitStack() as at_end,
        ):
            progress: Progress = SilentProgress()
            if not watches:
                total = _size(found.inputs)
                progress = at_end.enter_context(console.progress("ingest", total=total))
            alone = _landings(
                configuration, stores, actor, found.crawl, spool, tally, progress.advance, request
            )
            crew: Crew = several or Alone(alone.attempt)
            if spool is not None:
                crew = at_end.enter_context(
                    bulk_crew(crew, configuration, stores, spool, found.crawl, console)
                )
            loop = IngestLoop(crew, landing_run, tally, console, progress)
            if request.settle_s is not None:
                loop.watch(lambda: _look(request, loop), request.settle_s)
            loop.note_left(found.left)
            if not (found.inputs or found.left.unfinished or found.left.refused):
                console.warn(_NOTHING_FOUND)
            loop.land(found.inputs)
        _tell(loop.summary(), found.crawl if begins else None, configuration, console)
        job.exit = Exit.SOME_FAILED if loop.failed else Exit.DONE
    return job.exit


def _why_not(item: Input, crawl: str) -> InputRefused | None:
    """Why a file will not land, whatever is in the store; None if it may."""
    try:
        check_input(item.place, archive_file(crawl, item.name))
    except InputRefused as problem:
        return problem
    return None


def _tell(
    summary: str | None, crawl: str | None, configuration: Configuration, console: Console
) -> None:
    """What was saved, where it is, and what next; without a crawl, nothing was."""
    if summary is not None and crawl is None:
        console.say(f"{summary}; no crawl was begun in {store_place(configuration)}")
    elif summary is not None and crawl is not None:
        console.say(f"{summary}; crawl {printable(crawl)} of {store_place(configuration)}")
        console.say(
            f"next: {next_command(f'dedupe {printable(crawl)} --plan', configuration)} says what "
            f"removing duplicates would save; {next_command('serve', configuration)} shows the "
            "store"
        )


def _landings(
    configuration: Configuration,
    stores: Stores,
    actor: Actor,
    crawl: str,
    spool: Spool | None,
    tally: Tally,
    advance: Advance,
    request: IngestRequest,
) -> Landings:
    """How a file lands: with servers to wait for, puts and writes go on behind the parser."""
    remote = configuration.profile != "embedded"
    sinks = overlapped_rows(stores.rows) if remote else None
    lander = Lander(
        stores.rows,
        stores.archive,
        actor,
        sinks=spool.rows.sink if spool is not None else sinks,
        writers=overlapped_file if remote else direct_writer,
        accepts_damaged=request.accepts_damaged,
    )
    return Landings(
        lander,
        crawl,
        configuration.collection,
        in_bulk=spool is not None,
        on_retry=tally.counting(ARCHIVE_RETRIES),
        advance=advance,
    )


@contextmanager
def _several(
    jobs: int,
    configuration: Configuration,
    crawl: str,
    spool: Spool | None,
    request: IngestRequest,
) -> Iterator[Workers[Attempt, Answered] | None]:
    """Processes that land files, if several are asked for.  They open stores of their own."""
    if jobs > 1:
        worker = partial(_landing_worker, configuration, crawl, spool, request)
        with Workers(jobs, worker) as workers:
            yield workers
    else:
        yield None


@contextmanager
def _landing_worker(
    configuration: Configuration,
    crawl: str,
    spool: Spool | None,
    request: IngestRequest,
    advance: Advance,
) -> Iterator[Callable[[Attempt], Answered]]:
    tally = Tally()
    actor = Actor() if spool is None else spool.worker()
    with open_stores(configuration, tally=tally) as stores:
        landings = _landings(configuration, stores, actor, crawl, spool, tally, advance, request)

        def attempt(given: Attempt) -> Answered:
            before = Counter(tally.counts())
            outcome = landings.attempt(given)
            return Answered(outcome, dict(Counter(tally.counts()) - before))

        yield attempt


def _look(request: IngestRequest, loop: IngestLoop) -> Iterator[Seen]:
    """What is there now to be watched."""
    left = LeftOut()
    if request.hook:
        found = hand_over(request.hook, request.names)
        inputs, left = found.inputs, found.left
    else:
        inputs = list(iter_inputs(request.names, left, documents=True))
    loop.note_left(left)
    return look_at(inputs)


def _found(request: IngestRequest) -> Handover:
    if request.hook:
        found = hand_over(request.hook, request.names)
        return found._replace(crawl=request.crawl or found.crawl)
    left = LeftOut()
    # While watching, the first look is like every other: it lists anew.
    names = request.names if request.settle_s is None else []
    inputs = list(iter_inputs(names, left, documents=True))
    return Handover(request.crawl or "", None, inputs, left)


def _plan(found: Handover, console: Console) -> Exit:
    for place in found.left.unfinished:
        console.warn(f"{printable(place)}: still being written; skipped")
    say_others(found.left, console)
    for refusal in found.left.refused:
        console.warn(refusal)
    if not (found.inputs or found.left.unfinished or found.left.refused):
        console.warn(_NOTHING_FOUND)
    is_well = not found.left.refused
    for item in found.inputs:
        problem = _why_not(item, found.crawl)
        if problem is not None:
            is_well = False
            console.warn(problem)
            continue
        identity = archive_file(found.crawl, item.name)
        text = f"{printable(item.place)} -> {printable(identity)}"
        console.result({"file": identity, "from": item.place}, text=text)
    return Exit.DONE if is_well else Exit.SOME_FAILED


def _size(inputs: list[Input]) -> int:
    return sum(size_at(item.place) or 0 for item in inputs)

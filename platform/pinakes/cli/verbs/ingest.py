"""`pinakes ingest`: land archive files into a crawl."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial

from pinakes.application.landers import landers_for
from pinakes.application.landing import Watched, ingest
from pinakes.application.landing_plan import IngestRequest, plan_ingest
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import (
    add_accept_damaged,
    add_dry_run,
    add_settings,
    configuration_of,
    options_of,
)
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.ingest_printing import NOTHING_FOUND, say, say_done, say_plan
from pinakes.errors import ConfigError
from pinakes.ingest.hooks import HOOKS
from pinakes.ingest.tally import Tally
from pinakes.ingest.watch import SETTLE_S
from pinakes.profile import open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """Files or folders, and the crawl they belong to."""
    add_inputs(parser, "PATH", "archive files, folders or WACZ packages; also URLs")
    option = options_of(parser)
    option("--crawl ID", "crawl that the files belong to (with --hook: default from the crawler)")
    option(
        "--hook",
        "PATH is the output of this crawler: a job folder, a collection or webhook, files",
        choices=sorted(HOOKS),
    )
    option("--watch", "keep watching: ingest files that no longer change, until stopped")
    option(
        "--settle SECONDS",
        "with --watch: wait until a file has not changed for so long (default: %(default)g)",
        type=_seconds,
        default=SETTLE_S,
    )
    option(
        "--bulk", "for large collections: load the rows of many files at once (docs/bulk-load.md)"
    )
    option("--require-files", "exit with 3 if there is nothing to ingest; with --hook, always so")
    option("-j, --jobs N", "number of processes, one file each (default: 1)")
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
        collection=configuration.collection,
        hook=arguments.hook,
        settle_s=arguments.settle if arguments.watch else None,
        bulk_bytes=configuration.bulk_bytes if arguments.bulk else None,
        accepts_damaged=arguments.accept_damaged,
        jobs=configuration.jobs,
    )
    plan = plan_ingest(request)
    requires_files = arguments.require_files or arguments.hook is not None
    lacks_files = plan.is_empty and requires_files and not arguments.watch
    if arguments.dry_run:
        exit_code = say_plan(plan, console)
        return Exit.SOME_FAILED if lacks_files else exit_code
    tally = Tally()
    with (
        metrics_file(arguments.metrics_file, "ingest", tally, console) as job,
        # Before any store is open: they can be forked then.
        landers_for(
            request, plan, partial(open_stores, configuration), configuration.temp_dir
        ) as landers,
        open_stores(configuration, tally=tally) as stores,
    ):
        with ExitStack() as shown:
            watched = Watched(on_event=lambda event: say(event, console), on_report=job.write)
            if not arguments.watch:
                progress = shown.enter_context(console.progress("ingest", total=plan.size))
                watched = watched._replace(advance=progress.advance)
            done = ingest(stores, request, plan, watched, landers)
        if plan.is_empty:
            console.warn(NOTHING_FOUND)
        say_done(done, configuration, console)
        is_well = done.is_well and not lacks_files
        job.exit = Exit.DONE if is_well else Exit.SOME_FAILED
    return job.exit

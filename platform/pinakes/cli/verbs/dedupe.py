"""`pinakes dedupe`: find the duplicates of what has landed, and write them as revisits."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from pinakes.application.deduping import dedupe_runs, forecast, plan_drop, settled
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import lines_to
from pinakes.cli.frame.steps import Steps
from pinakes.cli.frame.store_jobs import require_jobs
from pinakes.cli.frame.trust_options import add_trust, trust_of
from pinakes.cli.verbs.dedupe_files import dedupe_files, files_request_of
from pinakes.cli.verbs.dedupe_printing import (
    format_plan,
    say_dropped,
    say_if_there_is_none,
    say_next,
    say_report,
)
from pinakes.cli.verbs.dedupe_workers import executors
from pinakes.config import Configuration, parse_fraction
from pinakes.dedupe.run.old_generations import Dropped
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeRequest, policies_text
from pinakes.dedupe.run.store_run import COMPARE, VERB
from pinakes.errors import ConfigError
from pinakes.ingest.tally import Tally
from pinakes.profile import Stores, open_stores


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeCall:
    """What to deduplicate, and how; a run that is taken up goes on with its own request."""

    request: DedupeRequest
    """With the configured collection; a crawl may be of another."""
    runner: str
    forecast_from: float | None
    """Forecast only, from this part of the contents; None: do it."""
    decisions: str | None
    """Where a forecast writes a line for each capture; None: nowhere."""
    grace_ms: int | None
    """Drop generations that have been replaced for so long; None: drop none."""

    @property
    def forecasts(self) -> bool:
        """Whether nothing is written."""
        return self.forecast_from is not None


def configure(parser: argparse.ArgumentParser) -> None:
    """What to deduplicate, and how far to go."""
    parser.add_argument(
        "names",
        metavar="CRAWL|PATH",
        nargs="*",
        help="a crawl of the store, against all before it; with -o archive files and folders",
    )
    parser.add_argument("--all", action="store_true", help="all crawls of the collection")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="deduplicate these files, without a store: each is written to this folder, and "
        "validated",
    )
    parser.add_argument(
        "--compare",
        choices=COMPARE,
        default="bytes",
        help="compare payloads byte for byte; or take equal SHA-256 for equal, but compare bytes "
        "where SHA-1 disagrees, and of a sample; or read nothing (default: bytes)",
    )
    add_trust(parser)
    parser.add_argument(
        "--plan", action="store_true", help="forecast what would be saved; write nothing"
    )
    parser.add_argument(
        "--sample",
        metavar="FRACTION",
        help="forecast from this part of the contents (1%%), with a 95%% interval",
    )
    parser.add_argument(
        "--decisions",
        metavar="FILE",
        help="with --plan: write a manifest line for each capture, which says what it would refer "
        "to, or why it stays full",
    )
    parser.add_argument(
        "--runner",
        choices=("inline", "local", "hadoop"),
        default="inline",
        help="work on archive files in this process, or by jobs: in processes of this host, or on "
        "YARN (default: inline)",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        help="processes that compare payloads and rewrite files, or, with jobs, commit what these "
        "have written (1)",
    )
    parser.add_argument(
        "--drop-old",
        action="store_true",
        help="afterwards, delete generations that have been replaced for the grace time",
    )
    parser.add_argument(
        "--grace",
        metavar="SECONDS",
        type=int,
        default=86_400,
        help="how long an old generation is kept (default: 86400, a day)",
    )
    add_settings(
        parser, "store", "collection", "min_saving_bytes", "min_file_saving", "max_extra_bytes"
    )
    add_metrics_file(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do it under the collection's lease; take up what a run before left unfinished."""
    if arguments.output is not None:
        request = files_request_of(arguments)
        return dedupe_files(request, None if arguments.plan else Path(arguments.output), console)
    tally = Tally()
    with metrics_file(arguments.metrics_file, VERB, tally, console) as job:
        configuration = configuration_of(arguments)
        job.exit = _dedupe(call_of(arguments, configuration), configuration, console, tally)
    return job.exit


def call_of(arguments: argparse.Namespace, configuration: Configuration) -> DedupeCall:
    """What was asked for.  Raises ConfigError for what is no fraction, or not one crawl."""
    if bool(arguments.names) == arguments.all or len(arguments.names) > 1:
        raise ConfigError("name one crawl, or --all; or files and -o OUT")
    fraction = 1.0 if arguments.plan else None
    if arguments.sample:
        try:
            fraction = parse_fraction(arguments.sample)
        except ValueError as error:
            raise ConfigError(f"--sample is {arguments.sample!r}, and should be {error}") from error
        if not fraction:
            raise ConfigError("--sample 0 forecasts nothing")
    if arguments.decisions is not None and fraction != 1.0:
        raise ConfigError("--decisions writes what --plan finds: give that, and no --sample")
    trust = trust_of(arguments)
    request = DedupeRequest(
        collection=configuration.collection,
        crawl=arguments.names[0] if arguments.names else None,
        compare=arguments.compare != "none",
        sample_bytes=trust.sample if trust is not None else None,
        seed=trust.seed if trust is not None else "",
        min_saving_bytes=configuration.min_saving_bytes,
        min_file_saving=configuration.min_file_saving,
        max_extra_bytes=configuration.max_extra_bytes,
        policies=policies_text(configuration.dedupe),
    )
    return DedupeCall(
        request=request,
        runner=arguments.runner,
        forecast_from=fraction,
        decisions=arguments.decisions,
        grace_ms=arguments.grace * 1000 if arguments.drop_old else None,
    )


def _dedupe(call: DedupeCall, configuration: Configuration, console: Console, tally: Tally) -> Exit:
    require_jobs(call.runner, configuration)
    by_jobs = call.runner != "inline"
    with (
        executors(call.runner, configuration, console) as workers,
        open_stores(configuration, tally=tally) as stores,
    ):
        request = _settled(call.request, stores)
        if request.crawl is None:
            say_if_there_is_none(stores, request.collection, console)
        if call.forecasts:
            return _forecast(call, request, stores, console)

        is_well = True
        for report in dedupe_runs(
            stores,
            request,
            grace_ms=call.grace_ms,
            on_dropped=lambda one: say_dropped(one, console),
            executors=workers,
            # Jobs show their own.
            watched=lambda: nullcontext(UNWATCHED) if by_jobs else Steps(console, VERB),
            on_resumed=lambda run: console.say(f"going on with {run}, which was not finished"),
        ):
            # Also of a run that was resumed: nothing else reports it.
            say_report(report, request.collection, console)
            if report.files and call.grace_ms is None:
                say_next(request.crawl, configuration, console)
            is_well = is_well and not report.amiss
    return Exit.DONE if is_well else Exit.SOME_FAILED


def _forecast(call: DedupeCall, request: DedupeRequest, stores: Stores, console: Console) -> Exit:
    """Say what a run would do; and which generations would be dropped, or not, and why."""
    with lines_to(call.decisions, console) as decided_on:
        fraction = call.forecast_from or 1.0
        plan = forecast(stores, request, fraction=fraction, decided_on=decided_on)
    console.result(plan.as_json(), text=format_plan(plan))
    if call.grace_ms is None:
        return Exit.DONE

    def on_dropped(dropped: Dropped) -> None:
        say_dropped(dropped, console, is_plan=True)

    problems = plan_drop(stores, request.collection, grace_ms=call.grace_ms, on_dropped=on_dropped)
    for problem in problems:
        console.warn(problem)
    return Exit.SOME_FAILED if problems else Exit.DONE


def _settled(request: DedupeRequest, stores: Stores) -> DedupeRequest:
    try:
        return settled(stores, request)
    except ConfigError as error:
        if request.crawl is not None and Path(request.crawl).exists():
            raise ConfigError(f"{error.message}; for files, give -o OUT") from error
        raise

"""`pinakes dedupe`: find the duplicates of what has landed, and write them as revisits."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from pinakes.acts.act import Act
from pinakes.application.dedupe_workers import executors
from pinakes.application.deduping import dedupe_runs, forecast, settled
from pinakes.application.generations import drop_generations
from pinakes.cli.frame.act_jobs import job_shown
from pinakes.cli.frame.chain_options import add_trust, trust_of
from pinakes.cli.frame.event_printer import Steps
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import require_jobs
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of, options_of, parsed
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import lines_to
from pinakes.cli.verbs.dedupe_files import dedupe_files, files_request_of
from pinakes.cli.verbs.dedupe_printing import (
    format_plan,
    say_dropped,
    say_if_there_is_none,
    say_next,
    say_report,
)
from pinakes.config import Configuration, parse_fraction
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeRequest, policies_text
from pinakes.dedupe.run.store_run import COMPARE, VERB
from pinakes.dedupe.run.tasks import RewritingTasks
from pinakes.errors import ConfigError
from pinakes.ingest.tally import Tally
from pinakes.profile import Stores, open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """What to deduplicate, and how far to go."""
    parser.add_argument(
        "names",
        metavar="CRAWL|PATH",
        nargs="*",
        help="a crawl of the store, against all before it; with -o archive files and folders",
    )
    option = options_of(parser)
    option("--all", "all crawls of the collection")
    option(
        "-o, --output OUT",
        "deduplicate these files, without a store: each is written to this folder, and validated",
    )
    option(
        "--compare",
        "compare payloads byte for byte; or take equal SHA-256 for equal, but compare bytes "
        "where SHA-1 disagrees, and of a sample; or read nothing (default: bytes)",
        choices=COMPARE,
        default="bytes",
    )
    add_trust(parser)
    option("--plan", "forecast what would be saved; write nothing")
    option(
        "--sample FRACTION", "forecast from this part of the contents (1%%), with a 95%% interval"
    )
    option(
        "--decisions FILE",
        "with --plan: write a manifest line for each capture, which says what it would refer "
        "to, or why it stays full",
    )
    option(
        "--runner",
        "work on archive files in this process, or by jobs: in processes of this host, or on "
        "YARN (default: inline)",
        choices=("inline", "local", "hadoop"),
        default="inline",
    )
    option(
        "-j, --jobs N",
        "processes that compare payloads and rewrite files, or, with jobs, commit what these "
        "have written (1)",
    )
    option(
        "--drop-old", "afterwards, delete generations that have been replaced for the grace time"
    )
    option(
        "--grace SECONDS",
        "how long an old generation is kept (default: 86400, a day)",
        type=int,
        default=86_400,
    )
    add_settings(
        parser, "store", "collection", "min_saving_bytes", "min_file_saving", "max_extra_bytes"
    )
    add_metrics_file(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do it under the collection's lease; take up what a run before left unfinished."""
    if arguments.output is not None:
        files = files_request_of(arguments)
        return dedupe_files(files, None if arguments.plan else Path(arguments.output), console)
    tally, runner = Tally(), arguments.runner
    with metrics_file(arguments.metrics_file, VERB, tally, console) as job:
        configuration = configuration_of(arguments)
        request, fraction = request_of(arguments, configuration)
        grace_ms = arguments.grace * 1000 if arguments.drop_old else None
        require_jobs(runner, configuration)

        def tasks(act: Act, request: DedupeRequest, files: RunFiles) -> RewritingTasks:
            from pinakes.mr_jobs.store_tasks import StoreTasks  # needs the extra

            return StoreTasks(
                act=act,
                configuration=configuration,
                runner=runner,
                around=lambda job: job_shown(job, act, configuration, console),
                request=request,
                files=files,
            )

        by_jobs = runner != "inline"
        with (
            executors(
                configuration.jobs,
                partial(open_stores, configuration),
                tasks if by_jobs else None,
            ) as workers,
            open_stores(configuration, tally=tally) as stores,
        ):
            request = _settled(request, stores)
            if request.crawl is None:
                say_if_there_is_none(stores, request.collection, console)
            if fraction is not None:
                decisions = arguments.decisions
                job.exit = _forecast(stores, request, fraction, decisions, grace_ms, console)
                return job.exit
            for report in dedupe_runs(
                stores,
                request,
                grace_ms=grace_ms,
                on_dropped=lambda one: say_dropped(one, console),
                executors=workers,
                # Jobs show their own.
                watched=lambda: nullcontext(UNWATCHED) if by_jobs else Steps(console, VERB),
                on_resumed=lambda run: console.say(f"going on with {run}, which was not finished"),
            ):
                # Also of a run that was resumed: nothing else reports it.
                say_report(report, request.collection, console)
                if report.files and grace_ms is None:
                    say_next(request.crawl, configuration, console)
                if report.all_problems:
                    job.exit = Exit.SOME_FAILED
    return job.exit


def request_of(
    arguments: argparse.Namespace, configuration: Configuration
) -> tuple[DedupeRequest, float | None]:
    """What was asked for, and from which part of the contents to forecast it; None: do it.

    Raises:
        ConfigError: for what is no fraction, or not one crawl.
    """
    if bool(arguments.names) == arguments.all or len(arguments.names) > 1:
        raise ConfigError("name one crawl, or --all; or files and -o OUT")
    fraction = 1.0 if arguments.plan else None
    if arguments.sample:
        fraction = parsed("--sample", arguments.sample, parse_fraction)
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
    return request, fraction


def _forecast(
    stores: Stores,
    request: DedupeRequest,
    fraction: float,
    decisions: str | None,
    grace_ms: int | None,
    console: Console,
) -> Exit:
    """Say what a run would do; and which generations would be dropped, or not, and why."""
    with lines_to(decisions, console) as decided_on:
        plan = forecast(stores, request, fraction=fraction, decided_on=decided_on)
    console.result(plan.as_json(), text=format_plan(plan))
    if grace_ms is None:
        return Exit.DONE
    report = drop_generations(
        stores,
        request.collection,
        grace_ms=grace_ms,
        on_dropped=lambda one: say_dropped(one, console, is_plan=True),
        plan=True,
    )
    for problem in report.problems:
        console.warn(problem)
    return Exit.SOME_FAILED if report.problems else Exit.DONE


def _settled(request: DedupeRequest, stores: Stores) -> DedupeRequest:
    try:
        return settled(stores, request)
    except ConfigError as error:
        if request.crawl is not None and Path(request.crawl).exists():
            raise ConfigError(f"{error.message}; for files, give -o OUT") from error
        raise

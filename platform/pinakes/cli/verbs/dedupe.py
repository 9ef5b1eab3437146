"""`pinakes dedupe`: find the duplicates of what has landed, and write them as revisits."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import require_crawl, scan_crawls
from pinakes.catalog.dropped import drop_old_words
from pinakes.catalog.unknown_files import require_collection_known
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.steps import Steps
from pinakes.cli.frame.store_jobs import require_jobs
from pinakes.cli.frame.store_place import next_command, store_place
from pinakes.cli.frame.trust_options import add_trust, trust_of
from pinakes.cli.verbs.dedupe_files import FilesCall, dedupe_files
from pinakes.cli.verbs.dedupe_forecast import forecast
from pinakes.cli.verbs.dedupe_workers import executors
from pinakes.config import Configuration, parse_fraction
from pinakes.counts import count_of
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.run.collection_runs import (
    COMPARE,
    VERB,
    CollectionRuns,
    OldGenerations,
)
from pinakes.dedupe.run.old_generations import Dropped
from pinakes.dedupe.run.progress import UNWATCHED
from pinakes.dedupe.run.run_report import (
    CLAIMED,
    DONE_ALREADY,
    KEPT_FULL,
    WANTS_ROOM,
    DedupeReport,
    DedupeRequest,
    policies_text,
)
from pinakes.errors import ConfigError, DigestMismatch, MalformedRecord
from pinakes.ingest.tally import Tally
from pinakes.profile import Stores, open_stores

_UNCHANGED = {
    "min-file-saving": "would save less than min_file_saving",
    "larger than max-extra-bytes": "larger than max_extra_bytes",
    WANTS_ROOM: "no room left within max_extra_bytes",
    "failed": "could not be rewritten (named above)",
    CLAIMED: "another process is working on it (named above): the same command goes on",
    KEPT_FULL: "all its duplicates stay full (counted above)",
    "not stored any more": "removed meanwhile",
    DONE_ALREADY: "rewritten already",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeCall:
    """What to deduplicate, and how; a run that is taken up goes on with its own `DedupeRequest`."""

    crawl: str | None
    """None: all of the collection."""
    compare: str
    trust: Trust | None
    runner: str
    forecast_from: float | None
    """Forecast only, from this part of the contents; None: do it."""
    decisions: str | None
    """Where a forecast writes a line for each capture; None: nowhere."""
    grace_ms: int | None
    """Drop generations that have been replaced for so long; None: drop none."""


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
        return dedupe_files(files_call_of(arguments), configuration_of(arguments), console)
    tally = Tally()
    with metrics_file(arguments.metrics_file, VERB, tally, console) as job:
        job.exit = _dedupe(call_of(arguments), configuration_of(arguments), console, tally)
    return job.exit


def files_call_of(arguments: argparse.Namespace) -> FilesCall:
    """What was asked for with `-o`.  Raises ConfigError for what only a store has."""
    refused = {
        "--all": arguments.all,
        "--sample": arguments.sample,
        "--runner": arguments.runner != "inline",
        "--drop-old": arguments.drop_old,
        "--decisions": arguments.decisions,
        "--metrics-file": arguments.metrics_file,
    }
    given = [option for option, value in refused.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)}: not with -o, which takes files")
    if not arguments.names:
        raise ConfigError("-o deduplicates files: name some, or folders of them")
    return FilesCall(
        names=arguments.names,
        output=Path(arguments.output),
        compare=arguments.compare != "none",
        trust=trust_of(arguments),
        plan=arguments.plan,
    )


def call_of(arguments: argparse.Namespace) -> DedupeCall:
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
    return DedupeCall(
        crawl=arguments.names[0] if arguments.names else None,
        compare=arguments.compare,
        trust=trust_of(arguments),
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
        request = _request(call, configuration, stores)
        if call.crawl is None:
            _say_if_there_is_none(stores, request.collection, console)
        old = _old_generations(call, stores, console)
        if call.forecast_from is not None:
            require_collection_known(
                stores.rows, stores.archive, request.collection, crawl=request.crawl
            )
            forecast(request, call.forecast_from, call.decisions, stores, console)
            return _plan_drop(old, request.collection, console)

        def on_resumed(run: str) -> None:
            console.say(f"going on with {run}, which was not finished")

        runs = CollectionRuns(
            rows=stores.rows,
            archive=stores.archive,
            runs_folder=stores.runs_folder,
            actor=Actor(),
            software=SOFTWARE,
            executors=workers,
            old=old,
            # Jobs show their own.
            watched=lambda: nullcontext(UNWATCHED) if by_jobs else Steps(console, VERB),
            on_resumed=on_resumed,
        )
        is_well = True
        for report in runs.dedupe(request):
            # Also of a run that was resumed: nothing else reports it.
            _tell(report, request.collection, console)
            if report.files and call.grace_ms is None:
                _say_next(call, configuration, console)
            is_well = is_well and not report.amiss
    return Exit.DONE if is_well else Exit.SOME_FAILED


def _old_generations(call: DedupeCall, stores: Stores, console: Console) -> OldGenerations | None:
    """Those that may go, each told of."""
    if call.grace_ms is None:
        return None
    is_plan = call.forecast_from is not None
    field, verb = ("would_drop", "would drop") if is_plan else ("dropped", "dropped")

    def say(dropped: Dropped) -> None:
        name, size = dropped
        console.result(
            {field: name, "bytes": size}, text=f"{verb} {name}, {count_of(size, 'byte')}"
        )

    return OldGenerations(
        rows=stores.rows,
        archive=stores.archive,
        actor=Actor(),
        grace_ms=call.grace_ms,
        on_dropped=say,
    )


def _plan_drop(old: OldGenerations | None, collection: str, console: Console) -> Exit:
    """Say which generations would be dropped now, and which kept, and why."""
    problems = old.plan(collection) if old is not None else []
    for problem in problems:
        console.warn(problem)
    return Exit.SOME_FAILED if problems else Exit.DONE


def _request(call: DedupeCall, configuration: Configuration, stores: Stores) -> DedupeRequest:
    collection, trust = configuration.collection, call.trust
    if call.crawl is not None:
        try:
            collection = require_crawl(stores.rows, call.crawl).facts.collection
        except ConfigError as error:
            if Path(call.crawl).exists():
                raise ConfigError(f"{error.message}; for files, give -o OUT") from error
            raise
    return DedupeRequest(
        collection=collection,
        crawl=call.crawl,
        compare=call.compare != "none",
        sample_bytes=trust.sample if trust is not None else None,
        seed=trust.seed if trust is not None else "",
        min_saving_bytes=configuration.min_saving_bytes,
        min_file_saving=configuration.min_file_saving,
        max_extra_bytes=configuration.max_extra_bytes,
        policies=policies_text(configuration.dedupe),
    )


def _say_if_there_is_none(stores: Stores, collection: str, console: Console) -> None:
    """Where a collection has no crawl, which ones have."""
    found = {entry.facts.collection for entry in scan_crawls(stores.rows)}
    if collection not in found:
        others = f"; there are in {', '.join(sorted(found))}: --collection NAME" if found else ""
        console.say(f"collection {collection} has no crawl{others}")


def _tell(report: DedupeReport, collection: str, console: Console) -> None:
    for problem in report.amiss:
        console.warn(problem)
    if any(isinstance(problem, (DigestMismatch, MalformedRecord)) for problem in report.amiss):
        console.say(
            "what is damaged `pinakes fsck --full` names, and what can be done: put the file back "
            "from a backup, or, where an older generation is whole, let "
            f"{drop_old_words(collection)} mend it"
        )
    console.result(report.as_json(), text=_sentences(report))


def _say_next(call: DedupeCall, configuration: Configuration, console: Console) -> None:
    words = f"dedupe {call.crawl or '--all'} --drop-old"
    console.say(
        f"the new files are current in {store_place(configuration)}, the old ones still there; "
        f"next: {next_command(words, configuration, 'collection')} deletes those replaced more "
        "than a day ago (--grace)"
    )


def _sentences(report: DedupeReport) -> str:
    first = f"run {report.run}: {count_of(report.refs.records, 'revisit')}"
    saved = count_of(report.refs.saved_bytes, "byte")
    files = count_of(report.files, "file")
    lines = [f"{first} in {files}, {saved} saved once the old ones are dropped"]
    if report.files_mended:
        records = count_of(report.records_mended, "record")
        lines.append(
            f"{count_of(report.files_mended, 'file')} mended: {records} taken from old generations"
        )
    if report.refs.left_full:
        counted = sorted(report.refs.left_full.items())
        lines.append("records left full: " + ", ".join(f"{n:,} {reason}" for reason, n in counted))
    for reason, n in sorted(report.files_left.items()):
        lines.append(f"{count_of(n, 'file')} unchanged: {_UNCHANGED.get(reason, reason)}")
    if report.is_stopped:
        waiting = count_of(report.files_left[WANTS_ROOM], "file is left", "files are left")
        lines.append(
            f"stopped: {waiting} for want of room; the same "
            "command goes on when old generations are dropped (--drop-old, after --grace)"
        )
    return "\n".join(lines)

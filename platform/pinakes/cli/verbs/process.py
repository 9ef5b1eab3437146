"""`pinakes process`: copy numbers and originals for a resolved manifest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.job_run import job_request, report_job, write_job_lines
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    add_decisions,
    add_manifests,
    refuse_unreadable,
    size_of,
    space_of,
    spare_collector,
    write_lines,
    write_stats,
)
from pinakes.counts import count_of
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.process import process_lines
from pinakes.index.external_sort import SortSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRequest:
    """Which manifests to decide on, where the lines go, and what was counted."""

    manifests: Sequence[str]
    output: str
    stats: str | None
    resources: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Resolved manifests, and where the decisions go."""
    add_manifests(parser)
    add_decisions(parser)
    add_runner(parser, "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the lines with their decisions, by file and offset; say what was counted."""
    request = ProcessRequest(
        manifests=arguments.manifests,
        output=arguments.output,
        stats=arguments.stats,
        resources=arguments.resources,
    )
    runner = runner_of(arguments)
    if runner is not None:
        return _process_by_job(request, runner, console)
    return _process(request, space_of(arguments), console)


def _process(request: ProcessRequest, space: SortSpace, console: Console) -> Exit:
    spare_collector()
    count = ProcessCount()
    with console.progress("process", total=size_of(request.manifests)) as progress:
        manifest = ManifestInput(request.manifests, console, progress)
        lines = process_lines(manifest, count=count, resources=request.resources, space=space)
        write_lines(lines, request.output, console)
    _tell(request, count, console)
    return Exit.SOME_FAILED if manifest.failed else Exit.DONE


def _process_by_job(request: ProcessRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
    from pinakes.mr_jobs.job_counts import add_processed

    refuse_unreadable(runner, request.manifests, console)
    options = ["--resources"] if request.resources else []
    job = job_request(FlagDuplicatesJob, request.manifests, runner, options=options)
    report = write_job_lines(job, runner, request.output, console, verb="process")
    if not runner.print_only:
        count = ProcessCount()
        add_processed(count, report)
        _tell(request, count, console)
    return report_job(report, console)


def _tell(request: ProcessRequest, count: ProcessCount, console: Console) -> None:
    write_stats(request.stats, count.as_json(), console)
    console.say(describe_decisions(count))


def describe_decisions(count: ProcessCount) -> str:
    """What was decided, in a sentence or two."""
    text = (
        f"{count_of(count.originals, 'record stays', 'records stay')} full, "
        f"{count_of(count.duplicates, 'duplicate')} "
        f"of {count.duplicate_bytes:,} compressed bytes"
    )
    for what, counts in (("full for a reason", count.full), ("take no part", count.skipped)):
        if counts:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
            text += f"; {what}: {reasons}"
    if count.revisits:
        text += f"; revisits there before: {count.revisits:,}"
    return text

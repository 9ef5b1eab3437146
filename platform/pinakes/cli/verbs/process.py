"""`pinakes process`: copy numbers and originals for a resolved manifest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pinakes.application.parts import rarely_collecting
from pinakes.cli.frame.chain_options import add_decisions, add_manifests
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import (
    JobRunner,
    add_runner,
    job_request,
    report_job,
    runner_of,
    write_job_lines,
)
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    refuse_unreadable,
    size_of,
    space_of,
    write_lines,
    write_stats,
)
from pinakes.counts import count_of
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.process import process_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Resolved manifests, and where the decisions go."""
    add_manifests(parser)
    add_decisions(parser)
    add_runner(parser, "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the lines with their decisions, by file and offset; say what was counted."""
    manifests, output, resources = arguments.manifests, arguments.output, arguments.resources
    runner, count = runner_of(arguments), ProcessCount()
    if runner is not None:
        return _process_by_job(
            manifests, output, arguments.stats, runner, console, resources=resources
        )
    space = space_of(arguments)
    with (
        rarely_collecting(),
        console.progress("process", total=size_of(manifests)) as progress,
    ):
        manifest = ManifestInput(manifests, console, progress)
        lines = process_lines(manifest, count=count, resources=resources, space=space)
        write_lines(lines, output, console)
    _print(arguments.stats, count, console)
    return Exit.SOME_FAILED if manifest.failed else Exit.DONE


def _process_by_job(
    manifests: Sequence[str],
    output: str,
    stats: str | None,
    runner: JobRunner,
    console: Console,
    *,
    resources: bool,
) -> Exit:
    from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
    from pinakes.mr_jobs.job_counts import add_processed

    refuse_unreadable(runner, manifests, console)
    options = ["--resources"] if resources else []
    job = job_request(FlagDuplicatesJob, manifests, runner, options=options)
    report = write_job_lines(job, runner, output, console, verb="process")
    if not runner.print_only:
        count = ProcessCount()
        add_processed(count, report)
        _print(stats, count, console)
    return report_job(report, console)


def _print(stats: str | None, count: ProcessCount, console: Console) -> None:
    write_stats(stats, count.as_json(), console)
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

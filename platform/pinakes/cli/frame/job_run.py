"""A verb's job, run to its end: its lines to a file or as results, its report to people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.progress import percents
from pinakes.cli.frame.runner_options import JobRunner

if TYPE_CHECKING:
    from pinakes.mr_jobs.archive_job import ArchiveJob
    from pinakes.mr_jobs.driver.running import JobReport, JobRequest

    Start = Callable[..., JobReport]
    """`run_job` or its like, to be given runner, configuration, out and on_percent."""


def job_request(
    job: type[ArchiveJob],
    inputs: Sequence[str],
    runner: JobRunner,
    *,
    options: Sequence[str] = (),
    originals: str | None = None,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> JobRequest:
    """What the driver is asked for; the operator's own options come last."""
    from pinakes.mr_jobs.driver.running import JobRequest
    from pinakes.mr_jobs.given import Given

    given = Given(inputs=inputs, stored=runner.stored, originals=originals)
    return JobRequest(
        job=job,
        names=job.input_lines(given, runner.configuration),
        options=(*options, *runner.options),
        stored=runner.stored,
        files=files,
    )


def write_job_lines(
    request: JobRequest, runner: JobRunner, output: str, console: Console, *, verb: str
) -> JobReport:
    """Run it; its lines go to `output` as they are, in no order.  With --print, only print it."""
    from pinakes.mr_jobs.driver.running import run_job

    if runner.print_only:
        return print_job_lines(request, runner, console)
    with output_file(output, console) as out:
        return _run(partial(run_job, request), runner, out, console, verb)


def print_job_lines(request: JobRequest, runner: JobRunner, console: Console) -> JobReport:
    """Print the command lines that would run it; nothing is run, and the report is empty."""
    from pinakes.mr_jobs.driver.running import JobReport, print_job

    for line in print_job(request, runner.configuration):
        console.result({"command": line}, text=line)
    return JobReport()


def show_job_results(
    start: Start,
    runner: JobRunner,
    console: Console,
    text: Callable[[Mapping[str, Any]], str],
    *,
    verb: str,
) -> JobReport:
    """Run it; each of its lines is a result of the verb, and `text` is how people read it."""
    with TemporaryFile() as lines:
        report = _run(start, runner, lines, console, verb)
        lines.seek(0)
        for result in map(json.loads, lines):
            console.result(result, text=text(result))
    return report


def _run(start: Start, runner: JobRunner, out: BinaryIO, console: Console, verb: str) -> JobReport:
    with console.progress(verb, total=100, unit="percent") as progress:
        return start(runner.name, runner.configuration, out, on_percent=percents(progress))


def report_job(report: JobReport, console: Console) -> Exit:
    """Name what it found wrong, say what it counted; the exit code that is."""
    from pinakes.mr_jobs.archive_job import FOUND

    for problem in report.findings:
        console.warn(problem)
    for counter, count in sorted(report.counts.items()):
        console.say(f"{counter}: {count:,}")
    if report.findings:
        return Exit.SOME_FAILED
    return Exit.FOUND if report.counts[FOUND] else Exit.DONE

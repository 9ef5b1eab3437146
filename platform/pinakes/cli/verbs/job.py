"""`pinakes job`: any job, on any runner."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import configuration_of, input_names
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.progress import percents
from pinakes.cli.frame.receipt_file import write_receipt
from pinakes.cli.verbs.job_entries import JOBS, configure
from pinakes.cli.verbs.resolve import name_collisions
from pinakes.config import Configuration
from pinakes.dedupe.validate.receipt import read_accepted, read_receipt
from pinakes.errors import ConfigError

if TYPE_CHECKING:
    from pinakes.mr_jobs.driver.running import JobReport, JobRequest

__all__ = ["configure", "run"]


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Run it; name what it found wrong."""
    from pinakes.mr_jobs.archive_job import FOUND  # needs the extra

    configuration = configuration_of(arguments)
    inputs = list(input_names(arguments))
    if arguments.print_only and arguments.runner != "hadoop":
        raise ConfigError("--print is for --runner hadoop: others have no command line")
    if arguments.print_only and ("to" in arguments or getattr(arguments, "receipt", None)):
        raise ConfigError("--print is for jobs that write lines, and nothing is done behind")
    if arguments.name == "commit_copy":
        start = _copying(inputs, arguments, configuration)
    else:
        request = _request(inputs, arguments, configuration)
        if arguments.print_only:
            return _print(request, configuration, console)
        start = _job(request, inputs, arguments, configuration)
    with (
        output_file(arguments.output, console) as out,
        console.progress(arguments.name, total=100, unit="percent") as progress,
    ):
        report = start(out, on_percent=percents(progress))
    for problem in report.findings:
        console.warn(problem)
    name_collisions(report.collisions, console, where="their extensions are in the output")
    for counter, count in sorted(report.counts.items()):
        console.say(f"{counter}: {count:,}")
    if report.findings:
        return Exit.SOME_FAILED
    return Exit.FOUND if report.counts[FOUND] else Exit.DONE


def _request(
    inputs: list[str], arguments: argparse.Namespace, configuration: Configuration
) -> JobRequest:
    from pinakes.mr_jobs.driver.running import JobRequest
    from pinakes.mr_jobs.given import Given

    entry = JOBS[arguments.name]
    job = getattr(import_module(entry.module), entry.job)
    given = Given(
        inputs=inputs,
        stored=arguments.stored,
        originals=getattr(arguments, "originals", None),
    )
    return JobRequest(
        job=job,
        names=job.input_lines(given, configuration),
        options=shlex.split(arguments.options),
        stored=arguments.stored,
    )


def _print(request: JobRequest, configuration: Configuration, console: Console) -> Exit:
    from pinakes.mr_jobs.driver.running import print_job

    for line in print_job(request, configuration):
        console.result({"command": line}, text=line)
    return Exit.DONE


def _job(
    request: JobRequest,
    inputs: list[str],
    arguments: argparse.Namespace,
    configuration: Configuration,
) -> Callable[..., JobReport]:
    """A job, to be given where its lines go."""
    from pinakes.mr_jobs.driver.running import run_job
    from pinakes.mr_jobs.writing_job import run_writing_job

    where = (arguments.runner, configuration)
    if "accept" in arguments and (arguments.receipt or arguments.accept):
        from pinakes.mr_jobs.validating import Receipted, run_validation

        if not arguments.receipt:
            raise ConfigError("--accept goes with --receipt")
        what = Receipted(
            request=request,
            folders=inputs,
            accepted=read_accepted(arguments.accept) if arguments.accept else (),
        )
        write = partial(write_receipt, arguments.receipt)
        return partial(run_validation, what, *where, on_result=write)
    if "to" in arguments:
        return partial(run_writing_job, request, arguments.to, *where)
    return partial(run_job, request, *where)


def _copying(
    folders: list[str], arguments: argparse.Namespace, configuration: Configuration
) -> Callable[..., JobReport]:
    """The jobs of a copy, to be given where its lines go."""
    from pinakes.mr_jobs.commit_copy import CopyRequest, run_commit_copy

    if len(folders) != 2 or arguments.stored or arguments.options:
        raise ConfigError("give SRC and DST, two folders, and neither --stored nor --options")
    request = CopyRequest(
        source=folders[0],
        target=folders[1],
        receipt=read_receipt(arguments.receipt),
        today=datetime.now(timezone.utc).date().isoformat(),
        dry_run=arguments.dry_run,
    )
    return partial(run_commit_copy, request, arguments.runner, configuration)

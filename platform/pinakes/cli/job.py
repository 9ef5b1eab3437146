"""`pinakes job`: any job, on any runner."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.cli.exits import Exit
from pinakes.cli.options import add_inputs, add_settings, configuration_of, input_names
from pinakes.cli.output import Console
from pinakes.cli.output_file import output_file
from pinakes.cli.progress import percents
from pinakes.cli.resolve import name_collisions
from pinakes.config import Configuration
from pinakes.dedupe.receipt import read_receipt
from pinakes.errors import ConfigError

if TYPE_CHECKING:
    from pinakes.mr_jobs.running import JobReport, JobRequest


class Entry(NamedTuple):
    """A job: where it is, what it does, and which further arguments it takes."""

    module: str
    job: str
    words: str
    takes: tuple[str, ...] = ()


JOBS = {
    "manifest": Entry("pinakes.mr_jobs.manifest", "ManifestJob", "hash every capture, a line each"),
    "resolve_collisions": Entry(
        "pinakes.mr_jobs.resolve_collisions",
        "ResolveCollisionsJob",
        "compare bodies of one digest, byte for byte",
    ),
    "flag_duplicates": Entry(
        "pinakes.mr_jobs.flag_duplicates",
        "FlagDuplicatesJob",
        "which copy is original, and which refers to it",
    ),
    "validate": Entry(
        "pinakes.mr_jobs.validate",
        "ValidateJob",
        "compare two folders of archive files, record by record",
        ("originals",),
    ),
    "convert_arc": Entry(
        "pinakes.mr_jobs.convert_arc", "ConvertArcJob", "convert ARC files to WARC", ("to",)
    ),
    "restore": Entry(
        "pinakes.mr_jobs.restore",
        "RestoreJob",
        "turn our revisits back to full records",
        ("to", "originals"),
    ),
    "commit_copy": Entry(
        "pinakes.mr_jobs.commit_copy",
        "run_commit_copy",
        "put a validated set in the place of a second copy",
        ("receipt",),
    ),
}
RUNNERS = ("inline", "local", "hadoop")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which job, on what, where."""
    nested = parser.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, entry in JOBS.items():
        text = f"{entry.words[0].upper()}{entry.words[1:]}."
        job = nested.add_parser(name, help=entry.words, description=text)
        _configure_job(job)
        if "to" in entry.takes:
            job.add_argument(
                "--to",
                metavar="FOLDER",
                required=True,
                help="write the new files there: a path, or with --runner hadoop hdfs://…",
            )
        if "receipt" in entry.takes:
            job.add_argument(
                "--receipt",
                metavar="FILE",
                type=Path,
                required=True,
                help="what `pinakes validate` wrote of the two",
            )
        if "originals" in entry.takes:
            job.add_argument(
                "--originals",
                metavar="FOLDER",
                help="look for originals in the archive files of this folder, too",
            )


def _configure_job(parser: argparse.ArgumentParser) -> None:
    add_inputs(
        parser,
        "INPUT",
        "what the job reads (docs/jobs.md): archive files, folders of them, manifests",
    )
    parser.add_argument(
        "--stored", action="store_true", help="inputs are names of files in the store"
    )
    parser.add_argument(
        "--runner",
        choices=RUNNERS,
        default="inline",
        help="in this process, in several on this host, or on YARN (default: inline)",
    )
    parser.add_argument(
        "--print",
        action="store_true",
        dest="print_only",
        help="with --runner hadoop: print the command lines that do the same, and run nothing",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="write there (-: standard output)"
    )
    parser.add_argument(
        "--options",
        metavar="TEXT",
        default="",
        help="the job's own, as one text: --options='--digest sha256'",
    )
    add_settings(parser, "store", "job_folder", "job_python", "job_streaming_jar")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Run it; name what it found wrong."""
    from pinakes.mr_jobs.archive_job import FOUND  # needs the extra

    entry = JOBS[arguments.name]
    configuration = configuration_of(arguments)
    if arguments.print_only and arguments.runner != "hadoop":
        raise ConfigError("--print is for --runner hadoop: others have no command line")
    if arguments.print_only and {"to", "receipt"} & {*entry.takes}:
        raise ConfigError("--print is for jobs that write lines: files are renamed at their end")
    if "receipt" in entry.takes:
        start = _copying(arguments, configuration)
    else:
        request = _request(entry, arguments, configuration)
        if arguments.print_only:
            return _print(request, configuration, console)
        start = _job(request, arguments, configuration)
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
    entry: Entry, arguments: argparse.Namespace, configuration: Configuration
) -> JobRequest:
    from pinakes.mr_jobs.given import Given
    from pinakes.mr_jobs.running import JobRequest

    job = getattr(import_module(entry.module), entry.job)
    given = Given(
        inputs=list(input_names(arguments)),
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
    from pinakes.mr_jobs.running import print_job

    for line in print_job(request, configuration):
        console.result({"command": line}, text=line)
    return Exit.DONE


def _job(
    request: JobRequest, arguments: argparse.Namespace, configuration: Configuration
) -> Callable[..., JobReport]:
    """A job, to be given where its lines go."""
    from pinakes.mr_jobs.running import run_job
    from pinakes.mr_jobs.writing_job import run_writing_job

    where = (arguments.runner, configuration)
    if "to" in arguments:
        return partial(run_writing_job, request, arguments.to, *where)
    return partial(run_job, request, *where)


def _copying(
    arguments: argparse.Namespace, configuration: Configuration
) -> Callable[..., JobReport]:
    """The jobs of a copy, to be given where its lines go."""
    from pinakes.mr_jobs.commit_copy import CopyRequest, run_commit_copy

    folders = list(input_names(arguments))
    if len(folders) != 2 or arguments.stored or arguments.options:
        raise ConfigError("give SRC and DST, two folders, and neither --stored nor --options")
    request = CopyRequest(
        source=folders[0],
        target=folders[1],
        receipt=read_receipt(arguments.receipt),
        today=datetime.now(timezone.utc).date().isoformat(),
    )
    return partial(run_commit_copy, request, arguments.runner, configuration)

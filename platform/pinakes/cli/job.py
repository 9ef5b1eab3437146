"""`pinakes job`: any job, on any runner."""

from __future__ import annotations

import argparse
import shlex
from importlib import import_module
from typing import NamedTuple

from pinakes.cli.exits import Exit
from pinakes.cli.options import add_inputs, add_settings, configuration_of, input_names
from pinakes.cli.output import Console
from pinakes.cli.output_file import output_file
from pinakes.cli.progress import percents
from pinakes.cli.resolve import name_collisions
from pinakes.errors import ConfigError


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
    from pinakes.mr_jobs.given import Given
    from pinakes.mr_jobs.running import JobRequest, print_job, run_job
    from pinakes.mr_jobs.writing_job import run_writing_job

    entry = JOBS[arguments.name]
    configuration = configuration_of(arguments)
    job = getattr(import_module(entry.module), entry.job)
    given = Given(
        inputs=list(input_names(arguments)),
        stored=arguments.stored,
        originals=getattr(arguments, "originals", None),
    )
    request = JobRequest(
        job=job,
        names=job.input_lines(given, configuration),
        options=shlex.split(arguments.options),
        stored=arguments.stored,
    )
    if arguments.print_only:
        if arguments.runner != "hadoop":
            raise ConfigError("--print is for --runner hadoop: others have no command line")
        if "to" in entry.takes:
            raise ConfigError(
                "--print is for jobs that write lines: files are renamed at their end"
            )
        for line in print_job(request, configuration):
            console.result({"command": line}, text=line)
        return Exit.DONE
    with (
        output_file(arguments.output, console) as out,
        console.progress(arguments.name, total=100, unit="percent") as progress,
    ):
        advance = percents(progress)
        where = (arguments.runner, configuration, out)
        if "to" in entry.takes:
            report = run_writing_job(request, arguments.to, *where, on_percent=advance)
        else:
            report = run_job(request, *where, on_percent=advance)
    for problem in report.findings:
        console.warn(problem)
    name_collisions(report.collisions, console, where="their extensions are in the output")
    for counter, count in sorted(report.counts.items()):
        console.say(f"{counter}: {count:,}")
    if report.findings:
        return Exit.SOME_FAILED
    return Exit.FOUND if report.counts[FOUND] else Exit.DONE

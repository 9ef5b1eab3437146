"""`pinakes refs`: archive files anew, their duplicates as revisits."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pinakes.application.revisits import (
    RUN_OF_OTHERS,
    RefsRequest,
    RefsTold,
    RefsWritten,
    write_revisits,
)
from pinakes.application.told import Notice, Skipped
from pinakes.archive_store.located import size_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.left_full import left_full_text
from pinakes.cli.frame.options import add_dry_run, add_inputs, configuration_of, inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.place_options import add_places, places_of
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.counts import count_of

_TO_COUNT = "min_saving_bytes"


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, the manifest that says what to do, and where to write."""
    add_inputs(
        parser,
        "WARC",
        "files to rewrite, each of another base name, or folders of them; with --runner, give none",
    )
    parser.add_argument(
        "--manifest",
        metavar="FILE",
        required=True,
        help="what `pinakes process` wrote; with --runner also hdfs://… or a pattern with *",
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder for the new files; with --runner hadoop hdfs://…",
    )
    target.add_argument(
        "--in-place",
        action="store_true",
        help="replace the files; the old ones are moved to superseded/",
    )
    parser.add_argument(
        "--min-saving",
        metavar="BYTES",
        dest=_TO_COUNT,
        help="rewrite a record only if that saves at least so much; none: always (default: 64)",
    )
    add_places(parser)
    parser.add_argument(
        "--run",
        metavar="ID",
        help="name of this run, written into the revisits (default: a hash of the manifest; "
        f"{RUN_OF_OTHERS} if the manifest is not a local file)",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what was replaced, what stayed full and why."""
    runner = runner_of(arguments)
    if runner is not None:
        is_named = bool(arguments.inputs or arguments.files_from)
        names = list(inputs_of(arguments)) if is_named else []
        return _by_job(_request_of(arguments, names), runner, console)
    if arguments.output is None:  # a folder may have superseded/ in it by now
        return _write(_request_of(arguments, list(inputs_of(arguments))), console)
    given = archive_files_of(arguments, console)
    return given.exit(_write(_request_of(arguments, given.names), console))


def _request_of(arguments: argparse.Namespace, names: Sequence[str]) -> RefsRequest:
    return RefsRequest(
        names=names,
        manifest=arguments.manifest,
        output=arguments.output,
        min_saving_bytes=configuration_of(arguments).min_saving_bytes,
        places=places_of(arguments),
        run=arguments.run,
        dry_run=arguments.dry_run,
    )


def _write(request: RefsRequest, console: Console) -> Exit:
    failed = False

    def tell(told: RefsTold) -> None:
        nonlocal failed
        if isinstance(told, RefsWritten):
            counts = told.refs.as_json()
            text = _sentence(printable(told.file), counts)
            console.result({"file": told.file, **counts}, text=text)
        elif isinstance(told, Skipped):
            console.warn(f"{told.place}: {told.why}", kind=told.why)
        elif isinstance(told, Notice):
            console.say(told.text)
        else:
            failed = True
            console.warn(told)

    size = sum(size_at(name) or 0 for name in request.names)
    with console.progress("refs", total=size) as progress:
        total = write_revisits(request, tell, progress.advance)
    console.say(_sentence("all files", total.as_json()))
    return Exit.SOME_FAILED if failed else Exit.DONE


def _by_job(request: RefsRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.write_revisits import WriteRevisitsJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    runner.refuse(
        {
            "WARC (it writes the files in which --manifest marks duplicates)": request.names,
            "--in-place": request.output is None,
            "--dir": request.places.folder,
            "--locations": request.places.table,
            "--dry-run": request.dry_run,
        }
    )
    options = ["--run", request.run_name]
    if request.min_saving_bytes is not None:
        options += ["--min-saving-bytes", str(request.min_saving_bytes)]
    assert request.output is not None
    job = job_request(WriteRevisitsJob, [request.manifest], runner, options=options)
    report = show_job_results(
        partial(run_writing_job, job, request.output),
        runner,
        console,
        lambda result: _sentence(printable(result["file"]), result),
        verb="refs",
    )
    return report_job(report, console)


def _sentence(name: str, counts: Mapping[str, Any]) -> str:
    text = (
        f"{name}: {count_of(counts['revisits'], 'revisit')}, {counts['saved_bytes']:,} bytes saved"
    )
    return text + left_full_text(counts["left_full"])

"""`pinakes refs`: archive files rewritten, their duplicates as revisits."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from pinakes.application.inputs import find_files, total_size
from pinakes.application.revisits import (
    RUN_OF_OTHERS,
    RefsEvent,
    RefsRequest,
    RefsWritten,
    write_revisits,
)
from pinakes.cli.frame.chain_options import add_places, places_of
from pinakes.cli.frame.event_printer import EventPrinter, left_full_text
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.jobs import JobRunner, add_runner, job_request, runner_of, write_files_by_job
from pinakes.cli.frame.options import add_dry_run, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of

_TO_COUNT = "min_saving_bytes"


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, the manifest that says what to do, and where to write."""
    add_inputs(
        parser,
        "WARC",
        "files to rewrite, each of another base name, or folders of them; with --runner, give none",
    )
    option = options_of(parser)
    option(
        "--manifest FILE",
        "what `pinakes process` wrote; with --runner also hdfs://… or a pattern with *",
        required=True,
    )
    target = options_of(parser.add_mutually_exclusive_group(required=True))
    target("-o, --output DIR", "folder for the new files; with --runner hadoop hdfs://…")
    target("--in-place", "replace the files; the old ones are moved to superseded/")
    option(
        "--min-saving BYTES",
        "rewrite a record only if that saves at least so much; none: always (default: 64)",
        dest=_TO_COUNT,
    )
    add_places(parser)
    option(
        "--run ID",
        "name of this run, written into the revisits (default: a hash of the manifest; "
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
    printer = EventPrinter(console)
    given = find_files(inputs_of(arguments), printer)
    return printer.exit(_write(_request_of(arguments, given.names), console))


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
    printer = EventPrinter(console)

    def show(event: RefsEvent) -> None:
        if isinstance(event, RefsWritten):
            counts = event.refs.as_json()
            text = _sentence(printable(event.file), counts)
            console.result({"file": event.file, **counts}, text=text)
        else:
            printer(event)

    with console.progress("refs", total=total_size(request.names)) as progress:
        total = write_revisits(request, show, progress.advance)
    console.say(_sentence("all files", total.as_json()))
    return printer.exit()


def _by_job(request: RefsRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.write_revisits import WriteRevisitsJob

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
    return write_files_by_job(
        job,
        request.output,
        runner,
        console,
        lambda result: _sentence(printable(result["file"]), result),
        verb="refs",
    )


def _sentence(name: str, counts: Mapping[str, Any]) -> str:
    text = (
        f"{name}: {count_of(counts['revisits'], 'revisit')}, {counts['saved_bytes']:,} bytes saved"
    )
    return text + left_full_text(counts["left_full"])

"""`pinakes restore`: revisits that we wrote, back to full records; crawlers', where asked for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.application.restoring import RestoreRequest, RestoringFiles
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.options import add_dry_run, add_inputs, inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.place_options import add_locations, places_of
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, and where their originals are."""
    add_inputs(parser, "WARC", "files, folders or WACZ packages whose revisits become full records")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="folder for the restored files; with --runner hadoop hdfs://…",
    )
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="also look for originals in the WARC files of this folder, or below a URL",
    )
    add_locations(parser, "table of further files with originals: names, and paths or URLs")
    parser.add_argument(
        "--cdx",
        metavar="FILE",
        help="find originals by this CDX or CDXJ, instead of reading the files",
    )
    parser.add_argument(
        "--foreign",
        action="store_true",
        help="also make crawlers' revisits full, where a body at hand has the payload digest that "
        "they declare",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; what could not be restored is named, and stays a revisit."""
    runner = runner_of(arguments)
    if runner is not None:
        request = _request_of(arguments, list(inputs_of(arguments)))
        return _by_job(request, arguments.output, runner, console, dry_run=arguments.dry_run)
    given = archive_files_of(arguments, console)
    restoring = RestoringFiles(_request_of(arguments, given.names), given.warn)
    total = restoring.find()
    output = None if arguments.dry_run else Path(arguments.output)
    with console.progress("restore", total=total) as progress:
        for file in restoring.write(output, progress.advance):
            result = {"file": file.file, "restored": file.restored, "left": file.left}
            if arguments.foreign:
                result["foreign"] = file.foreign
            console.result(result, text=_sentence(result))
    return given.exit(Exit.DONE)


def _request_of(arguments: argparse.Namespace, names: Sequence[str]) -> RestoreRequest:
    return RestoreRequest(
        names=names,
        places=places_of(arguments),
        index=Path(arguments.cdx) if arguments.cdx else None,
        foreign=arguments.foreign,
    )


def _by_job(
    request: RestoreRequest, output: str, runner: JobRunner, console: Console, *, dry_run: bool
) -> Exit:
    from pinakes.mr_jobs.restore import RestoreJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    runner.refuse(
        {
            "--cdx": request.index,
            "--locations": request.places.table,
            "--foreign": request.foreign,
            "--dry-run": dry_run,
        }
    )
    job = job_request(RestoreJob, request.names, runner, originals=request.places.folder)
    start = partial(run_writing_job, job, output)
    return report_job(show_job_results(start, runner, console, _sentence, verb="restore"), console)


def _sentence(result: Mapping[str, Any]) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(result["left"].items()))
    foreign = f", {result['foreign']} by crawlers" if "foreign" in result else ""
    return f"{printable(result['file'])}: {result['restored']} restored{foreign}" + (
        f"; {left}" if left else ""
    )

"""`pinakes restore`: revisits that we wrote, back to full records; crawlers', where asked for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from pinakes.application.restoring import RestoringFiles, files_to_restore
from pinakes.cli.frame.chain_options import add_locations, places_of
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.jobs import add_runner, job_request, runner_of, write_files_by_job
from pinakes.cli.frame.options import add_dry_run, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.profile import has_embedded_store, open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, and where their originals are."""
    add_inputs(
        parser,
        "PATH",
        "files, folders or WACZ packages whose revisits become full records; or crawls or "
        "collections of the store",
    )
    option = options_of(parser)
    option(
        "-o, --output DIR",
        "folder for the restored files; with --runner hadoop hdfs://…",
        required=True,
    )
    option("--dir DIR", "also look for originals in the WARC files of this folder, or below a URL")
    add_locations(parser, "table of further files with originals: names, and paths or URLs")
    option("--cdx FILE", "find originals by this CDX or CDXJ, instead of reading the files")
    option(
        "--foreign",
        "also make crawlers' revisits full, where a body at hand has the payload digest that "
        "they declare",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options", settings="settings")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; what could not be restored is named, and stays a revisit."""
    runner, places, foreign = (
        runner_of(arguments, uses_store=True),
        places_of(arguments),
        arguments.foreign,
    )
    if runner is not None:
        from pinakes.mr_jobs.restore import RestoreJob

        runner.refuse(
            {
                "--cdx": arguments.cdx,
                "--locations": places.table,
                "--foreign": foreign,
                "--dry-run": arguments.dry_run,
            }
        )
        names = list(inputs_of(arguments))
        job = job_request(RestoreJob, names, runner, originals=places.folder)
        return write_files_by_job(job, arguments.output, runner, console, _sentence, verb="restore")
    printer = EventPrinter(console)
    with ExitStack() as stack:
        configuration = configuration_of(arguments)
        restoring = RestoringFiles(
            files_to_restore(
                list(inputs_of(arguments)),
                printer,
                cache(lambda: stack.enter_context(open_stores(configuration))),
                places=places,
                has_store=has_embedded_store(configuration),
            ),
            printer,
            index=Path(arguments.cdx) if arguments.cdx else None,
            foreign=foreign,
        )
        total = restoring.find()
        output = None if arguments.dry_run else Path(arguments.output)
        with console.progress("restore", total=total) as progress:
            for file in restoring.write(output, progress.advance):
                result = {"file": file.file, "restored": file.restored, "left": file.left}
                if foreign:
                    result["foreign"] = file.foreign
                console.result(result, text=_sentence(result))
    return printer.exit()


def _sentence(result: Mapping[str, Any]) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(result["left"].items()))
    foreign = f", {result['foreign']} by crawlers" if "foreign" in result else ""
    return f"{printable(result['file'])}: {result['restored']} restored{foreign}" + (
        f"; {left}" if left else ""
    )

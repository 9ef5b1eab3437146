"""`pinakes manifest`: what archive files hold, a line per capture or per record."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import datetime, timezone

from pinakes.application.inputs import iter_paths, total_size
from pinakes.application.manifests import write_manifest
from pinakes.cli.frame.event_printer import EventPrinter, shown_later
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import (
    add_inputs,
    archive_inputs_of,
    files_below,
    inputs_of,
    is_folder_for_tasks,
)
from pinakes.cli.frame.jobs import (
    JobRunner,
    add_runner,
    job_request,
    report_job,
    runner_of,
    write_job_lines,
)
from pinakes.cli.frame.options import configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.errors import ConfigError
from pinakes.index.manifest_file import ALGORITHMS, ManifestForm


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files or folders of them, what to write of each record, and where."""
    add_inputs(
        parser,
        "WARC",
        "archive files or folders; with --runner hadoop also hdfs://…, where a folder ends in /",
    )
    option = options_of(parser)
    option("-o, --output FILE", "write there (-: standard output)", default="-")
    kind = options_of(parser.add_mutually_exclusive_group())
    kind("--plain", "only the columns of WARCsum")
    kind("--records", "one line per record, with its SHA-256")
    option(
        "--digest", "digest of the stored body (default: sha1)", choices=ALGORITHMS, default="sha1"
    )
    option(
        "--trust-declared",
        "use the digest that a record declares, unverified; compute it if there is none",
    )
    option(
        "--empty",
        "captures without a body (default: keep)",
        choices=("skip", "keep"),
        default="keep",
    )
    option("-j, --jobs N", "number of processes, one file each (default: 1)")
    add_runner(parser, "stored", "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the manifest; name what was damaged or refused."""
    if arguments.records and (arguments.trust_declared or arguments.digest != "sha1"):
        raise ConfigError(
            "--records always computes SHA-256: leave out --digest and --trust-declared"
        )
    form = ManifestForm(
        algorithm=arguments.digest,
        plain=arguments.plain,
        records=arguments.records,
        as_json=console.json,
        trust_declared=arguments.trust_declared,
        keep_empty=arguments.empty == "keep",
        now=datetime.now(timezone.utc),
    )
    output, printer, runner = arguments.output, EventPrinter(console), runner_of(arguments)
    if runner is not None:
        runner.refuse({"--json": console.json, "-j": arguments.jobs})
        return printer.exit(
            _list_by_job(inputs_of(arguments), form, output, runner, console, printer)
        )
    configuration = configuration_of(arguments)
    with archive_inputs_of(arguments, configuration.temp_dir) as inputs:
        given = list(inputs.names)  # all, before a folder is walked: a later line may be no path
        names = [path for name in given for path, _ in iter_paths(name, printer)]
        if not names and not printer.failed:
            console.warn("nothing to list: no archive files found")
        with (
            output_file(output, console) as out,
            shown_later(console, "manifest", total_size(names)) as begin,
        ):
            write_manifest(
                inputs,
                names,
                form,
                out,
                jobs=configuration.jobs,
                folder=configuration.temp_dir,
                on_event=printer,
                begin=begin,
            )
    return printer.exit()


def _list_by_job(
    inputs: Iterable[str],
    form: ManifestForm,
    output: str,
    runner: JobRunner,
    console: Console,
    printer: EventPrinter,
) -> Exit:
    from pinakes.mr_jobs.manifest import ManifestJob, form_options

    names = list(inputs)
    if not runner.stored:
        names = [
            file
            for name in names
            for file in (
                files_below(name, runner.configuration, printer)
                if is_folder_for_tasks(name)
                else (path for path, _ in iter_paths(name, printer))
            )
        ]
    if not names:
        raise ConfigError("nothing to list: no archive files found")
    job = job_request(ManifestJob, names, runner, options=form_options(form))
    report = write_job_lines(job, runner, output, console, verb="manifest")
    return report_job(report, console)

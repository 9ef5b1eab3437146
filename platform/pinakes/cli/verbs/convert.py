"""`pinakes convert`: ARC files to WARC, and back."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pinakes.application.inputs import find_files, refuse_clashes
from pinakes.archive_store.located import open_place, output_name, size_at
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.jobs import JobRunner, add_runner, job_request, runner_of, write_files_by_job
from pinakes.cli.frame.options import add_dry_run, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.errors import ONE_FILE_ONLY, ConfigError, InputRefused, PinakesError
from pinakes.rewrite.convert import warc_name
from pinakes.rewrite.convert_file import convert_file, rebuild_file
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.warc.compression.members import compression_of
from pinakes.warc.file_names import base_name, without_compression


def configure(parser: argparse.ArgumentParser) -> None:
    """ARC files, and the folder of the WARC files."""
    add_inputs(parser, "ARC", "ARC files to convert, compressed or not, or folders of them")
    option = options_of(parser)
    option(
        "-o, --output DIR", "folder for the new files; with --runner hadoop hdfs://…", required=True
    )
    option(
        "--verify",
        "rebuild the ARC from the WARC and compare every byte before publishing; always on "
        "with --runner",
    )
    option("--back", "convert back: from WARC files written by convert to uncompressed ARC files")
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; anything that is no record, or is wrong with one, is named."""
    if arguments.back and (arguments.verify or arguments.dry_run):
        raise ConfigError("--back always verifies: leave out --verify and --dry-run")
    back, dry_run, runner = arguments.back, arguments.dry_run, runner_of(arguments)
    if runner is not None:
        runner.refuse({"--back": back, "--dry-run": dry_run})
        return _by_job(list(inputs_of(arguments)), arguments.output, runner, console)
    printer, folder = EventPrinter(console), Path(arguments.output)
    names = find_files(inputs_of(arguments), printer).names
    _refuse_clashes(names, back=back)
    if not dry_run:
        _make_folder(folder)
    for name in names:
        try:
            if back:
                target = rebuild_file(name, folder)
                text = printable(f"{name} -> {target}")
                console.result({"warc": name, "arc": str(target)}, text=text)
                continue
            with console.progress(f"converting {base_name(name)}", total=size_at(name)) as progress:
                result = convert_file(
                    name,
                    folder,
                    verify=arguments.verify,
                    dry_run=dry_run,
                    advance=progress.advance,
                )
            values = result.as_json()
            _warn(values["arc"], [*values["stretches"], *values["findings"]], console)
            console.result(values, text=_sentence(values))
            printer.failed |= bool(result.stretches)
        except ONE_FILE_ONLY as problem:
            printer(problem)
    return printer.exit()


def _by_job(names: Sequence[str], output: str, runner: JobRunner, console: Console) -> Exit:
    """It verifies whether or not that is asked for."""
    from pinakes.mr_jobs.convert_arc import ConvertArcJob

    def describe(result: Mapping[str, Any]) -> str:
        # The job's report has the stretches.
        _warn(result["arc"], result["findings"], console)
        return _sentence(result)

    job = job_request(ConvertArcJob, names, runner)
    return write_files_by_job(job, output, runner, console, describe, verb="convert")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigError(f"-o {folder} is not a folder") from error


def _warn(arc: str, findings: Iterable[Mapping[str, Any]], console: Console) -> None:
    for finding in findings:
        console.warn(PinakesError(finding["message"], file=arc, offset=finding["offset"]))


def _sentence(result: Mapping[str, Any]) -> str:
    records = ", ".join(f"{count} {name}" for name, count in sorted(result["records"].items()))
    parts = [f"{result['arc']} -> {result['warc']}: {result['outcome']}, {records}"]
    if stretches := len(result["stretches"]):
        words = "stretches that are not records, kept unchanged"
        one = "stretch that is not a record, kept unchanged"
        parts.append(f"{stretches} {words if stretches > 1 else one}")
    if result["verified_bytes"] is not None:
        parts.append(f"verified, {result['verified_bytes']} bytes")
    elif result["outcome"] == UNCHANGED:
        parts.append("equal to the existing file")
    return printable("; ".join(parts))


def _refuse_clashes(names: Iterable[str], *, back: bool) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    by_target: dict[str, list[str]] = defaultdict(list)
    for name in names:
        base = output_name(name) if back else base_name(name)
        if back:
            by_target[without_compression(base)].append(name)
            continue
        with suppress(InputRefused), open_place(name) as source:
            by_target[warc_name(base, compressed=compression_of(source) is not None)].append(name)
    refuse_clashes(by_target)

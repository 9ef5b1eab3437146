"""`pinakes convert`: ARC files to WARC, and back."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.archive_store.located import open_place, output_name, size_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.options import add_dry_run, add_inputs, inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.output_names import refuse_clashes
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.errors import (
    ONE_FILE_ONLY,
    ConfigError,
    InputRefused,
    PinakesError,
)
from pinakes.rewrite.convert import warc_name
from pinakes.rewrite.convert_file import convert_file, rebuild_file
from pinakes.rewrite.new_file import UNCHANGED
from pinakes.warc.compression.members import compression_of
from pinakes.warc.file_names import base_name, without_compression


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertRequest:
    """Which files to convert, in which direction, and where the new ones go."""

    names: Sequence[str]
    output: str
    verify: bool
    back: bool
    dry_run: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """ARC files, and the folder of the WARC files."""
    add_inputs(parser, "ARC", "ARC files to convert, compressed or not, or folders of them")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="folder for the new files; with --runner hadoop hdfs://…",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="rebuild the ARC from the WARC and compare every byte before publishing; always on "
        "with --runner",
    )
    parser.add_argument(
        "--back",
        action="store_true",
        help="convert back: from WARC files written by convert to uncompressed ARC files",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; whatever is no record, or is wrong with one, is named."""
    if arguments.back and (arguments.verify or arguments.dry_run):
        raise ConfigError("--back always verifies: leave out --verify and --dry-run")
    runner = runner_of(arguments)
    if runner is not None:
        return _by_job(_request_of(arguments, list(inputs_of(arguments))), runner, console)
    given = archive_files_of(arguments, console)
    return given.exit(_convert_all(_request_of(arguments, given.names), console))


def _request_of(arguments: argparse.Namespace, names: Sequence[str]) -> ConvertRequest:
    return ConvertRequest(
        names=names,
        output=arguments.output,
        verify=arguments.verify,
        back=arguments.back,
        dry_run=arguments.dry_run,
    )


def _convert_all(request: ConvertRequest, console: Console) -> Exit:
    _refuse_clashes(request.names, back=request.back)
    if not request.dry_run:
        _make_folder(Path(request.output))
    complete = True
    for name in request.names:
        try:
            if request.back:
                _back(name, Path(request.output), console)
            else:
                complete &= _convert(name, request, console)
        except ONE_FILE_ONLY as problem:
            console.warn(problem)
            complete = False
    return Exit.DONE if complete else Exit.SOME_FAILED


def _by_job(request: ConvertRequest, runner: JobRunner, console: Console) -> Exit:
    """It verifies whether or not that is asked for."""
    from pinakes.mr_jobs.convert_arc import ConvertArcJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    runner.refuse({"--back": request.back, "--dry-run": request.dry_run})
    job = job_request(ConvertArcJob, request.names, runner)
    start = partial(run_writing_job, job, request.output)

    def tell(result: Mapping[str, Any]) -> str:
        # The job's report has the stretches.
        _warn(result["arc"], result["findings"], console)
        return _sentence(result)

    return report_job(show_job_results(start, runner, console, tell, verb="convert"), console)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigError(f"-o {folder} is not a folder") from error


def _convert(arc: str, request: ConvertRequest, console: Console) -> bool:
    """Whether all of it became records."""
    with console.progress(f"converting {base_name(arc)}", total=size_at(arc)) as progress:
        result = convert_file(
            arc,
            Path(request.output),
            verify=request.verify,
            dry_run=request.dry_run,
            advance=progress.advance,
        )
    told = result.as_json()
    _warn(told["arc"], [*told["stretches"], *told["findings"]], console)
    console.result(told, text=_sentence(told))
    return not result.stretches


def _warn(arc: str, findings: Iterable[Mapping[str, Any]], console: Console) -> None:
    for finding in findings:
        console.warn(PinakesError(finding["message"], file=arc, offset=finding["offset"]))


def _back(warc: str, folder: Path, console: Console) -> None:
    target = rebuild_file(warc, folder)
    console.result({"warc": warc, "arc": str(target)}, text=printable(f"{warc} -> {target}"))


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

"""`pinakes manifest`: what archive files hold, a line per capture or per record."""

from __future__ import annotations

import argparse
import gc
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pinakes.archive_store.located import open_place, size_at
from pinakes.cli.frame.archive_inputs import ArchiveInputs, archive_inputs_of
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import iter_paths
from pinakes.cli.frame.job_inputs import files_below, is_folder_for_tasks
from pinakes.cli.frame.job_run import job_request, report_job, write_job_lines
from pinakes.cli.frame.options import add_inputs, configuration_of, inputs_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.config import Configuration
from pinakes.errors import ConfigError, PinakesError
from pinakes.index.manifest_file import ALGORITHMS, ManifestForm, iter_manifest_pieces

if TYPE_CHECKING:
    from concurrent.futures import Future


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files or folders of them, what to write of each record, and where."""
    add_inputs(
        parser,
        "WARC",
        "archive files or folders; with --runner hadoop also hdfs://…, where a folder ends in /",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="write there (-: standard output)"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--plain", action="store_true", help="only the columns of WARCsum")
    kind.add_argument(
        "--records", action="store_true", help="one line per record, with its SHA-256"
    )
    parser.add_argument(
        "--digest",
        choices=ALGORITHMS,
        default="sha1",
        help="digest of the stored body (default: sha1)",
    )
    parser.add_argument(
        "--trust-declared",
        action="store_true",
        help="use the digest that a record declares, unverified; compute it if there is none",
    )
    parser.add_argument(
        "--empty",
        choices=("skip", "keep"),
        default="keep",
        help="captures without a body (default: keep)",
    )
    parser.add_argument(
        "-j", "--jobs", metavar="N", help="number of processes, one file each (default: 1)"
    )
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
    output = arguments.output
    runner = runner_of(arguments)
    if runner is None:
        configuration = configuration_of(arguments)
        with archive_inputs_of(arguments, configuration.temp_dir) as inputs:
            return _list(inputs, form, output, configuration, console)
    runner.refuse({"--json": console.json, "-j": arguments.jobs})
    return _list_by_job(inputs_of(arguments), form, output, runner, console)


def _list(
    inputs: ArchiveInputs,
    form: ManifestForm,
    output: str,
    configuration: Configuration,
    console: Console,
) -> Exit:
    problems = _Problems(console)
    given = list(inputs.names)  # all, before a folder is walked: a later line may be no path
    names = list(_files(given, problems))
    if not names and not problems.found:
        console.warn("nothing to list: no archive files found")
    with output_file(output, console) as out, _rare_collections():
        if configuration.jobs > 1 and len(names) > 1 and not inputs.is_piped:
            folder = configuration.temp_dir
            _write_in_parallel(names, form, configuration.jobs, folder, out, problems, console)
        else:
            with console.progress("manifest", total=_total_bytes(names)) as progress:
                for name in names:
                    pieces = iter_manifest_pieces(inputs.opened(name), name, form, progress.advance)
                    for problem in _written(pieces, out):
                        problems.name(problem)
    return Exit.SOME_FAILED if problems.found else Exit.DONE


def _list_by_job(
    inputs: Iterable[str], form: ManifestForm, output: str, runner: JobRunner, console: Console
) -> Exit:
    from pinakes.mr_jobs.manifest import ManifestJob, form_options

    configuration = runner.configuration
    problems = _Problems(console)
    names = list(inputs)
    if not runner.stored:
        names = [
            file
            for name in names
            for file in (
                files_below(name, configuration, problems.name, console)
                if is_folder_for_tasks(name)
                else _files([name], problems)
            )
        ]
    if not names:
        raise ConfigError("nothing to list: no archive files found")
    job = job_request(ManifestJob, names, runner, options=form_options(form))
    report = write_job_lines(job, runner, output, console, verb="manifest")
    code = report_job(report, console)
    return Exit.SOME_FAILED if problems.found else code


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the cycle collector run seldom: the loop makes many objects, and no cycles (2%)."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Problems:
    """Names each problem as it is met, and remembers that there was one."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.found = False

    def name(self, problem: PinakesError) -> None:
        self.found = True
        self.console.warn(problem)


def _files(names: Iterable[str], problems: _Problems) -> Iterator[str]:
    """The files to read: those given, under the names given, and those in folders given."""
    for name in names:
        for path, _ in iter_paths(name, problems.name, problems.console):
            yield path


def _total_bytes(names: Iterable[str]) -> int:
    return sum(size_at(name) or 0 for name in names)


def _write_in_parallel(
    names: list[str],
    form: ManifestForm,
    processes: int,
    temp_dir: Path | None,
    out: BinaryIO,
    problems: _Problems,
    console: Console,
) -> None:
    """Each file's lines go to a part of their own; parts are joined in the order of input.

    The largest files are begun first, so that no process is left alone with one at the end.
    """
    from tempfile import TemporaryDirectory

    from pinakes.cli.frame.processes import process_pool, result_of
    from pinakes.workers import SharedCounts

    sizes = [_total_bytes([name]) for name in names]
    counts = SharedCounts(len(names))
    with TemporaryDirectory(prefix="pinakes-", dir=temp_dir) as folder:
        parts = [Path(folder, str(number)) for number in range(len(names))]
        with process_pool(min(processes, len(names)), counts) as pool:
            work: dict[int, Future[list[PinakesError]]] = {
                number: pool.submit(write_part, names[number], form, parts[number], number)
                for number in sorted(range(len(names)), key=lambda n: (-sizes[n], n))
            }
            with console.progress("manifest", total=sum(sizes)) as progress:

                def tell() -> None:
                    progress.advance(counts.counted())

                for number, part in enumerate(parts):
                    for problem in result_of(work.pop(number), tell):
                        problems.name(problem)
                    with part.open("rb") as lines:
                        shutil.copyfileobj(lines, out, 1 << 20)
                    part.unlink()
                    tell()


def write_part(name: str, form: ManifestForm, part: Path, number: int) -> list[PinakesError]:
    """In a process of its own: one file's lines into `part`; what was wrong with it."""
    from pinakes.cli.frame.processes import advance_of

    pieces = iter_manifest_pieces(open_place(name), name, form, advance_of(number))
    with part.open("wb") as out, _rare_collections():
        return list(_written(pieces, out))


def _written(pieces: Iterable[bytes | PinakesError], out: BinaryIO) -> Iterator[PinakesError]:
    """Write the lines; what was wrong."""
    for piece in pieces:
        if isinstance(piece, bytes):
            out.write(piece)
        else:
            yield piece

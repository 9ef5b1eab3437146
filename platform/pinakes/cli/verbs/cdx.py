"""`pinakes cdx`: the index of files or crawls in which replay tools look up captures, sorted."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pinakes.catalog.cdx_lines import iter_stored_cdx_lines
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_inputs, add_settings, configuration_of, inputs_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.processes import advance_of, process_pool, result_of
from pinakes.cli.frame.progress import Progress
from pinakes.cli.frame.record_inputs import (
    InputFile,
    RecordInputs,
    read_records,
    record_inputs_of,
    size_of,
)
from pinakes.config import Configuration
from pinakes.errors import ConfigError, MalformedRecord, PinakesError
from pinakes.index.cdx_lines import iter_cdx_lines
from pinakes.index.cdxj import CDX_9, CDX_11, CdxLine, format_cdx, format_cdx_header, format_cdxj
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.workers import SharedCounts

_COLUMNS = {"cdx11": CDX_11, "cdx9": CDX_9}
_WGET = "wget"
_SPACE_BYTES = 64 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls, and the form of the index."""
    add_inputs(parser, "WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
    parser.add_argument(
        "--format",
        choices=("cdxj", *_COLUMNS, _WGET),
        default="cdxj",
        help="CDXJ, CDX with 11 columns, or with 9; wget: of collections, what wget's --warc-dedup "
        "may refer to (default: cdxj)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="write there (-: standard output)"
    )
    parser.add_argument(
        "-j", "--jobs", metavar="N", help="number of processes, one file each (default: 1)"
    )
    add_settings(parser, "store", "temp_dir")


@dataclass(frozen=True, slots=True)
class _Form:
    """How lines are written; sent to other processes."""

    columns: str | None
    """None: CDXJ."""

    def format(self, line: CdxLine) -> str:
        return format_cdxj(line) if self.columns is None else format_cdx(line, self.columns)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each capture; captures without URL or date are named, and left out."""
    if console.json:
        raise ConfigError("an index is JSON already with --format cdxj: leave out --json")
    configuration = configuration_of(arguments)
    if arguments.format == _WGET:
        from .cdx_for_wget import write_for_wget  # what answers CDX queries takes long to import

        names = list(inputs_of(arguments))
        return write_for_wget(names, arguments.output, configuration, console)
    form = _Form(_COLUMNS.get(arguments.format))
    space = SortSpace(memory_bytes=_SPACE_BYTES, folder=configuration.temp_dir)
    with record_inputs_of(arguments, configuration, console) as inputs:
        files = list(inputs.files())
        with console.progress("cdx", total=sum(map(size_of, files))) as progress:
            lines = _lines(files, form, inputs, configuration, progress)
            with output_file(arguments.output, console) as out:
                if form.columns is not None:
                    out.write(f"{format_cdx_header(form.columns)}\n".encode())
                for line in sort_outside_memory(lines, space=space):
                    out.write(line + b"\n")
    return Exit.SOME_FAILED if inputs.failed else Exit.DONE


def _lines(
    files: list[InputFile],
    form: _Form,
    inputs: RecordInputs,
    configuration: Configuration,
    progress: Progress,
) -> Iterator[bytes]:
    """Every line, in no order."""
    names = inputs.inside
    paths = [file for file in files if isinstance(file, str)]
    if configuration.jobs > 1 and len(paths) > 1 and not inputs.is_piped:
        yield from _in_parallel(paths, names, form, inputs, configuration, progress)
    else:
        for path in paths:
            records = inputs.records(path, progress.advance)
            yield from _of_path(path, names[path], form, records, inputs.warn)
    for file in files:
        if not isinstance(file, str):
            inputs.left_out(file)  # names them
            stored = iter_stored_cdx_lines(
                inputs.stores.archive, file, on_unplaced=partial(_unplaced, inputs.warn)
            )
            for line in inputs.guarded(stored):
                yield form.format(line).encode("utf-8", "surrogateescape")
            progress.advance(size_of(file))


def _of_path(
    path: str,
    name: str,
    form: _Form,
    records: Iterator[tuple[Source, Record]],
    warn: Callable[[PinakesError], None],
) -> Iterator[bytes]:
    unplaced = partial(_unplaced, warn, path)
    for line in iter_cdx_lines((record for _, record in records), name, on_unplaced=unplaced):
        yield form.format(line).encode("utf-8", "surrogateescape")


def _unplaced(warn: Callable[[PinakesError], None], file: str, offset: int, why: str) -> None:
    warn(MalformedRecord(f"{why}: left out", file=file, offset=offset))


def _in_parallel(
    paths: list[str],
    names: dict[str, str],
    form: _Form,
    inputs: RecordInputs,
    configuration: Configuration,
    progress: Progress,
) -> Iterator[bytes]:
    """The largest files are begun first, so that no process is left alone with one at the end."""
    counts = SharedCounts(len(paths))

    def tell() -> None:
        progress.advance(counts.counted())

    with (
        TemporaryDirectory(prefix="pinakes-", dir=configuration.temp_dir) as folder,
        process_pool(min(configuration.jobs, len(paths)), counts) as pool,
    ):
        parts = [Path(folder, str(number)) for number in range(len(paths))]
        tasks = sorted(zip(paths, parts, strict=True), key=lambda task: -size_of(task[0]))
        work = {
            part: pool.submit(write_part, path, names[path], form, part, number)
            for number, (path, part) in enumerate(tasks)
        }
        for part in parts:
            for problem in result_of(work.pop(part), tell):
                inputs.warn(problem)
            with part.open("rb") as lines:
                for line in lines:
                    yield line.rstrip(b"\n")
            part.unlink()
            tell()


def write_part(path: str, name: str, form: _Form, part: Path, number: int) -> list[PinakesError]:
    """In a process of its own: one file's lines into `part`; what was wrong with it."""
    problems: list[PinakesError] = []
    with part.open("wb") as out:
        records = read_records(path, problems.append, advance_of(number))
        lines = _of_path(path, name, form, records, problems.append)
        out.writelines(line + b"\n" for line in lines)
    return problems

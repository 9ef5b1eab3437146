"""`pinakes convert`: ARC files to WARC, and back."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_inputs, input_names
from pinakes.cli.frame.output import Console, printable
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.rewrite.convert import warc_name
from pinakes.rewrite.convert_file import UNCHANGED, Conversion, convert_file, rebuild_file
from pinakes.warc.members import compression_of
from pinakes.warc.source import open_source

_ONE_FILE_ONLY = (InputRefused, MalformedRecord, DigestMismatch, Conflict)


def configure(parser: argparse.ArgumentParser) -> None:
    """ARC files, and the folder of the WARC files."""
    add_inputs(parser, "ARC", "the ARC files to convert, compressed or not")
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="write the new files there"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="make the ARC again from what was written and compare every byte, then publish",
    )
    parser.add_argument(
        "--back",
        action="store_true",
        help="the other way: from WARC files that convert wrote, the ARC files, uncompressed",
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; whatever is no record, or is wrong with one, is named."""
    if arguments.back and (arguments.verify or arguments.dry_run):
        raise ConfigError("--back always verifies, and takes neither --verify nor --dry-run")
    names = list(input_names(arguments))
    _refuse_clashes(names, back=arguments.back)
    folder = Path(arguments.output)
    if not arguments.dry_run:
        _make_folder(folder)
    one = _back if arguments.back else _convert
    complete = True
    for name in names:
        try:
            complete &= one(Path(name), folder, arguments, console)
        except _ONE_FILE_ONLY as problem:
            console.warn(problem)
            complete = False
    return Exit.DONE if complete else Exit.SOME_FAILED


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ConfigError(f"-o {folder} is no folder") from error


def _convert(arc: Path, folder: Path, arguments: argparse.Namespace, console: Console) -> bool:
    """Whether all of it became records."""
    size = arc.stat().st_size if arc.is_file() else None
    with console.progress(f"converting {arc.name}", total=size) as progress:
        result = convert_file(
            arc,
            folder,
            verify=arguments.verify,
            dry_run=arguments.dry_run,
            advance=progress.advance,
        )
    for finding in (*result.stretches, *result.findings):
        console.warn(PinakesError(finding.message, file=result.arc, offset=finding.offset))
    console.result(result.as_json(), text=printable(_sentence(result)))
    return not result.stretches


def _back(warc: Path, folder: Path, arguments: argparse.Namespace, console: Console) -> bool:
    target = rebuild_file(warc, folder)
    console.result({"warc": str(warc), "arc": str(target)}, text=printable(f"{warc} -> {target}"))
    return True


def _sentence(result: Conversion) -> str:
    records = ", ".join(f"{count} {name}" for name, count in sorted(result.records.items()))
    parts = [f"{result.arc} -> {result.warc}: {result.outcome}, {records}"]
    if result.stretches:
        many = len(result.stretches) > 1
        words = "stretches that are no record, kept as they lay"
        one = "stretch that is no record, kept as it lay"
        parts.append(f"{len(result.stretches)} {words if many else one}")
    if result.verified_bytes is not None:
        parts.append(f"verified, {result.verified_bytes} bytes")
    elif result.outcome == UNCHANGED:
        parts.append("equal to what is there")
    return "; ".join(parts)


def _refuse_clashes(names: Iterable[str], *, back: bool) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    by_target: dict[str, list[str]] = defaultdict(list)
    for name in names:
        base = Path(name).name
        if back:
            by_target[base.removesuffix(".gz")].append(name)
            continue
        with suppress(InputRefused), open_source(name) as source:
            by_target[warc_name(base, compressed=compression_of(source) is not None)].append(name)
    clashes = [" and ".join(names) for names in by_target.values() if len(names) > 1]
    if clashes:
        raise ConfigError(f"one name for two outputs, nothing was written: {'; '.join(clashes)}")

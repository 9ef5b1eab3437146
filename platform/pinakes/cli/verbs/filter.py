"""`pinakes filter`: some records of archive files, into a file of their own."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pinakes.application.record_inputs import size_of
from pinakes.application.taking import RecordFilter
from pinakes.archive_store.local.whole_files import written_aside
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs
from pinakes.cli.frame.options import add_dry_run, add_settings, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import RECORDS, add_selection, record_inputs_of, selection_of
from pinakes.counts import count_of
from pinakes.errors import ConfigError
from pinakes.index.selection import Selection

_STANDARD_OUTPUT = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls; which of their records; where they go."""
    add_inputs(parser, *RECORDS)
    option = options_of(parser)
    option(
        "-o, --output FILE",
        "a new file, compressed unless it ends in .warc (-: standard output, compressed)",
        required=True,
    )
    option(
        "--originals",
        "also take the records that selected revisits refer to; reads all files twice",
    )
    add_selection(parser)
    add_dry_run(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """One file; what was selected and cannot be copied is named."""
    selection, printer = selection_of(arguments) or Selection(), EventPrinter(console)
    output: str = arguments.output
    if output.lower().endswith(".zst"):
        raise ConfigError(f"-o {output}: Zstandard is not written: name it .warc.gz, or .warc")
    with record_inputs_of(arguments, printer) as inputs:
        # Before the new file is there: it may be in a folder that is given.
        files = list(inputs.files())
        total = (1 + arguments.originals) * sum(map(size_of, files))
        with console.progress("filter", total=total) as progress:
            work = RecordFilter(inputs, selection, progress.advance)
            if arguments.originals:
                work.want_originals(files)
            opened = None if arguments.dry_run else partial(_opened, output, console)
            written = work.write(files, opened, compressed=not output.endswith(".warc"))
    _print(work, output, written, console, dry_run=arguments.dry_run)
    return printer.exit()


@contextmanager
def _opened(name: str, console: Console) -> Iterator[BinaryIO]:
    """A new file that appears when it is whole, or standard output."""
    if name == _STANDARD_OUTPUT:
        yield console.binary_out
        console.binary_out.flush()
        return
    target = Path(name)
    if not target.parent.is_dir():
        raise ConfigError(f"-o {name}: there is no folder {target.parent}")
    with written_aside(target) as out:
        yield out


def _print(
    taken: RecordFilter, output: str, written: int, console: Console, *, dry_run: bool
) -> None:
    types = dict(sorted(taken.types.items()))
    counts = {
        "output": output,
        "records": taken.records,
        "types": types,
        "left_out": taken.left_out,
        "bytes": written,
    }
    kinds = ", ".join(f"{count:,} {name}" for name, count in types.items())
    text = f"{printable(output)}: {count_of(taken.records, 'record')}"
    text += f" ({kinds})" if kinds else ""
    if dry_run or not taken.records:
        text += ", nothing written"
    else:
        text += f", {written:,} bytes"
    if output == _STANDARD_OUTPUT:
        console.say(text)
    else:
        console.result(counts, text=text)

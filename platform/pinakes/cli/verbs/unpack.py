"""`pinakes unpack`: the bodies of captures, or records, as files of a folder."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from pinakes.application.record_inputs import size_of
from pinakes.application.taking import Unpacker
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs
from pinakes.cli.frame.options import add_raw, add_settings, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import RECORDS, add_selection, record_inputs_of, selection_of
from pinakes.counts import count_of
from pinakes.errors import ConfigError
from pinakes.index.selection import Selection


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls; which of their records; the folder."""
    add_inputs(parser, *RECORDS)
    options_of(parser)(
        "-o, --output DIR",
        "a folder, made if needed; nothing that is there is overwritten",
        required=True,
    )
    what = options_of(parser.add_mutually_exclusive_group())
    what("--stored", "bodies as they are stored, in chunks and compressed (default: decoded)")
    what("--records", "a WARC file for each record of any type instead")
    add_raw(parser)
    add_selection(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A file for each body or record, and an index of them."""
    selection, printer = selection_of(arguments) or Selection(), EventPrinter(console)
    folder = Path(arguments.output)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"-o {folder} is a file: name a folder")
    with record_inputs_of(arguments, printer) as inputs:
        # Before there are new files: the folder may be one that is given.
        files = list(inputs.files())
        work = Unpacker(
            inputs,
            folder,
            stored=arguments.stored,
            raw=arguments.raw,
            records=arguments.records,
            on_put=console.result if console.json else lambda line: None,
        )
        with console.progress("unpack", total=sum(map(size_of, files))) as progress:
            work.unpack(files, selection, progress.advance)
    say = console.say if console.json else console.result
    say(_text(folder, work.counts))
    return printer.exit()


def _text(folder: Path, counts: Counter[str]) -> str:
    """What was done, in a line."""
    parts = [f"{count_of(counts['files'], 'file')}, {count_of(counts['bytes'], 'byte')}"]
    if counts["old"]:
        parts.append(f"already there: {counts['old']:,}")
    if counts["empty"]:
        parts.append(f"empty bodies left out: {counts['empty']:,}")
    if counts["revisits"]:
        parts.append(f"revisits left out: {counts['revisits']:,}")
    return f"{printable(folder)}: {'; '.join(parts)}"

"""`pinakes cdx`: the index of files or crawls in which replay tools look up captures, sorted."""

from __future__ import annotations

import argparse

from pinakes.application.listing import iter_cdx, iter_cdx_for_wget
from pinakes.application.record_inputs import size_of
from pinakes.cli.frame.event_printer import EventPrinter, shown_later
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import write_to
from pinakes.cli.frame.record_inputs import RECORDS, record_inputs_of
from pinakes.errors import ConfigError
from pinakes.index.cdxj import CDX_9, CDX_11
from pinakes.index.external_sort import SortSpace
from pinakes.profile import open_stores

_COLUMNS = {"cdx11": CDX_11, "cdx9": CDX_9}
_WGET = "wget"
_SPACE_BYTES = 64 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls, and the form of the index."""
    add_inputs(parser, *RECORDS)
    option = options_of(parser)
    option(
        "--format",
        "CDXJ, CDX with 11 columns, or with 9; wget: of collections, what wget's --warc-dedup "
        "may refer to (default: cdxj)",
        choices=("cdxj", *_COLUMNS, _WGET),
        default="cdxj",
    )
    option("-o, --output FILE", "write there (-: standard output)", default="-")
    option("-j, --jobs N", "number of processes, one file each (default: 1)")
    add_settings(parser, "store", "temp_dir")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each capture; captures without URL or date are named, and left out."""
    if console.json:
        raise ConfigError("an index is JSON already with --format cdxj: leave out --json")
    configuration, printer = configuration_of(arguments), EventPrinter(console)
    if arguments.format == _WGET:
        names = list(inputs_of(arguments))
        with open_stores(configuration) as stores:
            lines = iter_cdx_for_wget(configuration, stores, names, printer)
            write_to(arguments.output, lines, console)
        return printer.exit()
    space = SortSpace(memory_bytes=_SPACE_BYTES, folder=configuration.temp_dir)
    with record_inputs_of(arguments, printer) as inputs:
        files = list(inputs.files())
        with shown_later(console, "cdx", sum(map(size_of, files))) as begin:
            lines = iter_cdx(
                inputs,
                files,
                _COLUMNS.get(arguments.format),
                jobs=configuration.jobs,
                space=space,
                begin=begin,
            )
            write_to(arguments.output, lines, console)
    return printer.exit()

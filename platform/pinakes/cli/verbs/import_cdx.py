"""`pinakes import-cdx`: index lines of archives that lie elsewhere, from files."""

from __future__ import annotations

import argparse

from pinakes.acts.actor import Actor
from pinakes.application.index_files import IndexFileLines, import_lines
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.profile import open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """Indexes and manifests."""
    words = "CDX, CDXJ or manifests, as they are or in gzip"
    add_inputs(parser, "FILE", words)
    add_dry_run(parser)
    add_settings(parser, "store", "collection")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Take the lines of each file; a line that is none is named, and left out."""
    configuration, dry_run = configuration_of(arguments), arguments.dry_run
    names, printer = tuple(inputs_of(arguments)), EventPrinter(console)
    now_ms = Actor().now_ms()
    with open_stores(configuration) as stores:
        for name in names:
            lines = IndexFileLines(name, printer)
            taken = import_lines(
                stores, lines, configuration.collection, act_time_ms=now_ms, dry_run=dry_run
            )
            would = "would be " if dry_run else ""
            left_out = f", {lines.bad:,} left out" if lines.bad else ""
            if lines.is_whole or taken:
                console.result(
                    {"file": name, "lines": taken, "left_out": lines.bad},
                    text=f"{printable(name)}: {count_of(taken, 'line')} {would}taken{left_out}",
                )
    return printer.exit()

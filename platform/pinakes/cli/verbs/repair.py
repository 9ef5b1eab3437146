"""`pinakes repair`: WARC files put right where their writer was wrong, in new files."""

from __future__ import annotations

import argparse
from pathlib import Path

from pinakes.application.inputs import find_files, refuse_clashes
from pinakes.archive_store.local.files import make_folder
from pinakes.archive_store.located import output_name, size_at
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, inputs_of
from pinakes.cli.frame.options import add_dry_run, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.errors import ONE_FILE_ONLY
from pinakes.rewrite.header_mends import REMOVED
from pinakes.rewrite.repair_file import Repairing, RepairNote, repair_file
from pinakes.warc.file_names import base_name


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, and the folder of the corrected ones."""
    add_inputs(parser, "WARC", "WARC files, or folders of them; they are only read")
    options_of(parser)(
        "-o, --output DIR",
        "folder for corrected files; nothing that is there is overwritten",
        required=True,
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each change, each error that is left, and each file."""
    folder = Path(arguments.output)
    printer = EventPrinter(console)
    given = find_files(inputs_of(arguments), printer)
    by_target: dict[str, list[str]] = {}
    for name in given.names:
        by_target.setdefault(output_name(name), []).append(name)
    refuse_clashes(by_target)
    if not arguments.dry_run:
        make_folder(folder)
    complete = True
    for name in given.names:
        try:
            complete &= _repair(name, folder, console, dry_run=arguments.dry_run)
        except ONE_FILE_ONLY as problem:
            console.warn(problem)
            complete = False
    return printer.exit(Exit.DONE if complete else Exit.SOME_FAILED)


def _repair(name: str, folder: Path, console: Console, *, dry_run: bool) -> bool:
    """Whether nothing is left that is wrong."""

    def show(event: RepairNote) -> None:
        console.result(event.as_json(), text=_line(event))

    with console.progress(f"repairing {base_name(name)}", total=size_at(name)) as progress:
        result = repair_file(name, folder, show, dry_run=dry_run, advance=progress.advance)
    console.result(result.as_json(), text=_sentence(result))
    return not result.left


def _line(event: RepairNote) -> str:
    inside = f"+{event.inner_offset}" if event.inner_offset else ""
    place = f"{event.file}:{event.offset}{inside}: {event.code}: "
    if event.after is None:
        return printable(f"{place}left as it is: {event.before}")
    field = f"{event.field}: " if event.field else ""
    before = event.before or "(none)"
    after = "(removed)" if event.field and event.after == REMOVED else event.after
    return printable(f"{place}{field}{before} -> {after}")


def _sentence(result: Repairing) -> str:
    parts = [f"{result.file}: {result.outcome}"]
    if result.changes:
        parts = [f"{result.file} -> {result.target}: {result.outcome}"]
        parts.append(
            f"changes: {result.changes}, in {result.repaired} of "
            f"{count_of(result.records, 'record')}"
        )
    if result.proven_bytes is not None:
        parts.append(f"{count_of(result.proven_bytes, 'byte')} of blocks compared")
    if result.older:
        are = count_of(result.older, "record is", "records are")
        parts.append(f"{are} older than WARC/1.0: kept unchanged; every verb reads them")
    if result.left:
        parts.append(f"errors left: {result.left}")
    return printable("; ".join(parts))

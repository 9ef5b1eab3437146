"""`pinakes ls`: the records of archive files or crawls, a line each; or how many of what."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from pinakes.application.record_counts import SIZE_CLASSES, Count, RecordCounts, ordered
from pinakes.application.record_inputs import InputFile, RecordInputs, is_selected
from pinakes.cli.frame.event_printer import EventPrinter
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs
from pinakes.cli.frame.options import add_settings, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import RECORDS, add_selection, record_inputs_of, selection_of
from pinakes.counts import count_of
from pinakes.index.selection import Entry, RecordField, Selection, fields_of

_MOST_SHOWN = 12
_TITLES = {
    "types": "by type",
    "statuses": "captures by status",
    "media_types": "captures by media type",
    "hosts": "captures by host",
    "sizes": "captures by size of the body",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls, which of their records, and whether to count them."""
    add_inputs(parser, *RECORDS)
    what = options_of(parser.add_mutually_exclusive_group())
    what("--stats", "count records and bytes by type, status, media type, host and size instead")
    what(
        "--fields LIST",
        "print these instead, with tabs between: offset, length, filename, any WARC header, "
        "http:status, http:NAME for any HTTP header; LIST has commas",
    )
    add_selection(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each record, or tables."""
    selection, printer = selection_of(arguments), EventPrinter(console)
    counts = RecordCounts() if arguments.stats else None
    fields = fields_of(arguments.fields) if arguments.fields is not None else ()
    with record_inputs_of(arguments, printer) as inputs:
        for file in inputs.files():
            if fields:
                _print_fields(inputs, file, selection, fields, console)
            elif counts is not None:
                counts.add_file(inputs.entries(file, selection))
            else:
                for entry in inputs.entries(file, selection):
                    # One of the two is printed, and there may be millions.
                    console.result(_as_object(entry) if console.json else _line(entry))
    if counts is not None:
        console.result(counts.as_json(), text="\n".join(_tables(counts)))
    return printer.exit()


def _print_fields(
    inputs: RecordInputs,
    file: InputFile,
    selection: Selection | None,
    fields: Sequence[RecordField],
    console: Console,
) -> None:
    """A line for each record of a file; of one in the store the file itself is read."""
    filename = inputs.inside[file] if isinstance(file, str) else None
    for source, record in inputs.records(file):
        if selection is None or is_selected(source, record, selection):
            values = [field.of(record, filename or source.name) for field in fields]
            if console.json:
                names = (field.name for field in fields)
                console.result(dict(zip(names, values, strict=True)))
            else:
                shown = ("-" if value in (None, "") else printable(value) for value in values)
                console.result("\t".join(shown))


def _line(entry: Entry) -> str:
    """One line; the URL comes last."""
    fields = [
        entry.place,
        entry.type,
        "-" if entry.status is None else str(entry.status),
        entry.media_type or "-",
        str(entry.size),
        entry.date or "-",
        entry.target_uri or "-",
    ]
    if entry.findings:
        fields.insert(1, f"[{' '.join(entry.findings)}]")
    return printable("  ".join(fields))


def _as_object(entry: Entry) -> dict[str, object]:
    return {"place": entry.place, **entry._asdict(), "host": entry.host}


def _tables(counts: RecordCounts) -> Iterable[str]:
    """What people read: the most frequent of each kind."""
    yield (
        f"{count_of(counts.files, 'file')}, {count_of(counts.all.records, 'record')}, "
        f"{counts.all.bytes:,} bytes"
    )
    for name, title in _TITLES.items():
        table: dict[str, Count] = getattr(counts, name)
        if not table:
            continue
        yield from ("", f"  {'records':>12} {'bytes':>18}  {title}")
        shown = ordered(table)
        if name == "sizes":
            shown = [(size, table[size]) for size in SIZE_CLASSES if size in table]
        for value, count in shown[:_MOST_SHOWN]:
            yield f"  {count.records:>12,} {count.bytes:>18,}  {printable(value)}"
        if len(shown) > _MOST_SHOWN:
            yield f"  and {len(shown) - _MOST_SHOWN:,} more"

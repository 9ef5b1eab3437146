"""`pinakes ls`: the records of archive files or crawls, a line each; or how many of what."""

from __future__ import annotations

import argparse
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_inputs, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import InputFile, RecordInputs, record_inputs_of
from pinakes.cli.frame.selection_options import add_selection, chosen, is_selected, selection_of
from pinakes.counts import count_of
from pinakes.index.selection import Entry, RecordField, Selection, fields_of

_MOST_SHOWN = 12
_SIZE_LIMITS = (0, 10**3, 10**4, 10**5, 10**6, 10**7)
_SIZE_CLASSES = ("empty", "to 1 kB", "to 10 kB", "to 100 kB", "to 1 MB", "to 10 MB", "over 10 MB")


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls, which of their records, and whether to count them."""
    add_inputs(parser, "WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--stats",
        action="store_true",
        help="count records and bytes by type, status, media type, host and size instead",
    )
    what.add_argument(
        "--fields",
        metavar="LIST",
        help="print these instead, with tabs between: offset, length, filename, any WARC header, "
        "http:status, http:NAME for any HTTP header; LIST has commas",
    )
    add_selection(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each record, or tables."""
    selection = selection_of(arguments)
    stats = Stats() if arguments.stats else None
    fields = fields_of(arguments.fields) if arguments.fields is not None else ()
    with record_inputs_of(arguments, configuration_of(arguments), console) as inputs:
        for file in inputs.files():
            if fields:
                _print_fields(inputs, file, selection, fields, console)
                continue
            entries = chosen(inputs, file, selection)
            if stats is not None:
                stats.add_file(entries)
                continue
            for entry in entries:
                # One of the two is printed, and there may be millions.
                if console.json:
                    console.result(_as_object(entry))
                else:
                    console.result(_line(entry))
    if stats is not None:
        console.result(stats.as_json(), text="\n".join(stats.lines()))
    return Exit.SOME_FAILED if inputs.failed else Exit.DONE


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


@dataclass(slots=True)
class Count:
    """Records, and the bytes that they take in their files."""

    records: int = 0
    bytes: int = 0


def _counts() -> defaultdict[str, Count]:
    return defaultdict(Count)


@dataclass(slots=True)
class Stats:
    """What there is of each kind.  Memory: a count for each host and media type."""

    files: int = 0
    all: Count = field(default_factory=Count)
    types: dict[str, Count] = field(default_factory=_counts)
    statuses: dict[str, Count] = field(default_factory=_counts)
    media_types: dict[str, Count] = field(default_factory=_counts)
    hosts: dict[str, Count] = field(default_factory=_counts)
    sizes: dict[str, Count] = field(default_factory=_counts)
    """Of captures, by the size of their bodies."""

    def add_file(self, entries: Iterable[Entry]) -> None:
        """Count the records of one more file."""
        self.files += 1
        for entry in entries:
            # A member that several records share is counted with the first.
            taken = 0 if entry.inner_offset else entry.length
            for count in self._counts_of(entry):
                count.records += 1
                count.bytes += taken

    def _counts_of(self, entry: Entry) -> Iterable[Count]:
        yield self.all
        yield self.types[entry.type]
        if entry.type not in ("response", "resource", "revisit"):
            return
        yield self.statuses["none" if entry.status is None else str(entry.status)]
        yield self.media_types[entry.media_type or "none"]
        yield self.hosts[entry.host or "none"]
        yield self.sizes[_size_class(entry.size)]

    def as_json(self) -> dict[str, object]:
        """Everything counted."""
        tables = {name: _plain(getattr(self, name)) for name, _ in _TABLES}
        return {"files": self.files, "records": self.all.records, "bytes": self.all.bytes, **tables}

    def lines(self) -> Iterable[str]:
        """What people read: the most frequent of each kind."""
        yield (
            f"{count_of(self.files, 'file')}, {count_of(self.all.records, 'record')}, "
            f"{self.all.bytes:,} bytes"
        )
        for name, title in _TABLES:
            table: dict[str, Count] = getattr(self, name)
            if not table:
                continue
            yield ""
            yield f"  {'records':>12} {'bytes':>18}  {title}"
            shown = _ordered(table)
            if name == "sizes":
                shown = [(size, table[size]) for size in _SIZE_CLASSES if size in table]
            for value, count in shown[:_MOST_SHOWN]:
                yield f"  {count.records:>12,} {count.bytes:>18,}  {printable(value)}"
            if len(shown) > _MOST_SHOWN:
                yield f"  and {len(shown) - _MOST_SHOWN:,} more"


_TABLES = (
    ("types", "by type"),
    ("statuses", "captures by status"),
    ("media_types", "captures by media type"),
    ("hosts", "captures by host"),
    ("sizes", "captures by size of the body"),
)


def _size_class(size: int) -> str:
    return _SIZE_CLASSES[bisect_left(_SIZE_LIMITS, size)]


def _ordered(table: Mapping[str, Count]) -> list[tuple[str, Count]]:
    return sorted(table.items(), key=lambda item: (-item[1].records, item[0]))


def _plain(table: Mapping[str, Count]) -> dict[str, dict[str, int]]:
    return {
        name: {"records": count.records, "bytes": count.bytes} for name, count in _ordered(table)
    }

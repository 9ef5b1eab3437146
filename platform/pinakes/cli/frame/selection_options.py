"""Options that select records, for the verbs that list and take them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

from pinakes.cli.frame.record_inputs import InputFile, RecordInputs
from pinakes.errors import ConfigError
from pinakes.index.selection import (
    Entry,
    Selection,
    digest_of,
    entry_of,
    pattern_of,
    status_of,
    time_of,
)
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.record import Record
from pinakes.warc.source import Source


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Every condition; all that are given have to hold."""
    group = parser.add_argument_group(
        "which records (all conditions have to hold; one given several times: any of its values)"
    )
    add = group.add_argument
    add("--type", metavar="TYPE", action="append", help="WARC-Type: response, request, …")
    add("--status", metavar="STATUS", action="append", help="HTTP status: 200, 4xx")
    add("--mime", metavar="TYPE", action="append", help="media type: text/html, image/*")
    add(
        "--url",
        metavar="URL",
        action="append",
        help="URL in any spelling with the same urlkey; with * a pattern: http://e.org/a/*",
    )
    add("--host", metavar="HOST", action="append", help="this host, and all below it")
    add("--from", metavar="TIME", dest="since", help="from this time on: 2024, 2024-02-29")
    add("--to", metavar="TIME", dest="until", help="before this time")
    add("--digest", metavar="DIGEST", action="append", help="digest of the stored body, computed")
    add("--min-size", metavar="BYTES", type=int, help="bodies of at least so much")
    add("--max-size", metavar="BYTES", type=int, help="bodies of at most so much")
    add("--invert", action="store_true", help="all other records instead")


def selection_of(arguments: argparse.Namespace) -> Selection | None:
    """What these options select; None for everything."""
    urls = arguments.url or ()
    selection = Selection(
        types=frozenset(text.lower() for text in arguments.type or ()),
        statuses=tuple(map(status_of, arguments.status or ())),
        media_types=tuple(map(pattern_of, arguments.mime or ())),
        urls=tuple(pattern_of(text) for text in urls if "*" in text),
        urlkeys=frozenset(urlkey(text) for text in urls if "*" not in text),
        hosts=tuple(text.lower() for text in arguments.host or ()),
        since=time_of(arguments.since) if arguments.since else None,
        until=time_of(arguments.until) if arguments.until else None,
        digests=frozenset(map(digest_of, arguments.digest or ())),
        min_size=arguments.min_size,
        max_size=arguments.max_size,
        invert=arguments.invert,
    )
    if selection == Selection(invert=True):
        raise ConfigError("--invert without a condition selects nothing")
    return None if selection == Selection() else selection


def chosen(inputs: RecordInputs, file: InputFile, selection: Selection | None) -> Iterator[Entry]:
    """The entries of a file that are selected."""
    if selection is None:
        yield from inputs.entries(file)
    elif isinstance(file, str):
        for _, record in inputs.records(file):
            entry = entry_of(record, file)
            if selection.selects(entry, record.payload_digest):
                yield entry
    else:
        for entry in inputs.entries(file):
            if selection.selects(entry, partial(_stored_digest, entry)):
                yield entry


def is_selected(source: Source, record: Record, selection: Selection) -> bool:
    """Whether a record that was read is selected."""
    return selection.selects(entry_of(record, source.name), record.payload_digest)


def _stored_digest(entry: Entry, algorithm: str) -> Digest | None:
    if algorithm != "sha1":
        raise ConfigError("--digest of a crawl in the store: give its sha1")
    return parse_digest(entry.digest or "")

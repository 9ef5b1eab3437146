"""Records as arguments: of which files and crawls, and which of them."""

from __future__ import annotations

import argparse
from functools import partial

from pinakes.application.inputs import OnEvent
from pinakes.application.record_inputs import RecordInputs
from pinakes.conformance.rules import RECORD_TYPES
from pinakes.errors import ConfigError, did_you_mean
from pinakes.index.selection import Selection, digest_of, pattern_of, status_of, time_of
from pinakes.index.urlkey import urlkey
from pinakes.profile import open_stores

from .inputs import archive_inputs_of
from .options import configuration_of


def record_inputs_of(arguments: argparse.Namespace, on_event: OnEvent) -> RecordInputs:
    """The same for a verb that reads records, also those of crawls and collections."""
    configuration = configuration_of(arguments)
    given = archive_inputs_of(arguments, configuration.temp_dir)
    return RecordInputs(given, partial(open_stores, configuration), on_event)


RECORDS = ("WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
"""For `add_inputs`, where records are read."""


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
        types=frozenset(map(_type_of, arguments.type or ())),
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


def _type_of(text: str) -> str:
    """A record type, also one that is none of the standard's.

    Raises ConfigError for what is nearly one of these.
    """
    near = "" if text.lower() in RECORD_TYPES else did_you_mean(text.lower(), RECORD_TYPES)
    if near:
        raise ConfigError(f"--type is {text!r}{near}")
    return text.lower()

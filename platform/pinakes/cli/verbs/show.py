"""`pinakes show`: everything about one capture, now or as of a time; or its body."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from typing import NamedTuple

from pinakes.application.records import RecordPlace, key_at, key_or_place, open_at, open_local
from pinakes.archive_store.located import is_at
from pinakes.catalog.capture_history import read_cells
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_rows import scan_inflight
from pinakes.catalog.payloads import read_body
from pinakes.catalog.sound_records import require_sound
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_raw, add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.captures import withdrawal_words
from pinakes.cli.verbs.show_printing import say_cells, say_record, write_body
from pinakes.errors import ConfigError, InputRefused, UnresolvedReference
from pinakes.profile import Stores, open_stores
from pinakes.warc.dates import parse_date


class ShowOptions(NamedTuple):
    """What to show of a capture: its cells, all or those written before a time, or its body."""

    before_ms: int | None
    payload: bool
    raw: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """A capture, or a place in a file."""
    parser.add_argument(
        "capture", metavar="CAPTURE", help="as printed by timeline, or FILE:OFFSET (in quotes)"
    )
    option = options_of(parser)
    option("--as-of TIME", "show the capture as it was at this time: 2026-11-21T10:00:00.123Z")
    option("--payload", "write the stored body to standard output; it never changes")
    add_raw(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Cells, a record, or a body."""
    before_ms = _before_ms(arguments.as_of) if arguments.as_of else None
    view = ShowOptions(before_ms, arguments.payload, arguments.raw)
    named = key_or_place(arguments.capture)
    if isinstance(named, RecordPlace) and is_at(named.file):
        if before_ms is not None:
            raise ConfigError("--as-of: a file outside the store has no history")
        _show_local(named, view, console)
        return Exit.DONE
    with open_stores(configuration_of(arguments)) as stores:
        named = key_at(stores, named)
        if isinstance(named, RecordPlace):
            _show_place(stores, named, view, console)
        else:
            _show_capture(stores, named, view, console)
    return Exit.DONE


def _show_capture(stores: Stores, key: bytes, view: ShowOptions, console: Console) -> None:
    name = key.decode("ascii")
    cells = read_cells(stores.rows, key, before_ms=view.before_ms)
    found = get_captures(stores.rows, [key])
    placed = next(place_captures(stores.rows, found.values()), None)
    if not found and not cells:
        raise InputRefused("no such capture (removed captures have no history)", file=name)
    if view.payload:
        if not cells:
            raise InputRefused("not in the catalogue then", file=name)
        if key in found and found[key].withdrawal is not None:
            raise InputRefused(withdrawal_words(found[key]), file=name)
        # A body is the same in all generations of its file.
        _give_body(stores, placed, name, view, console)
        return
    say_cells(cells, name, placed, view.before_ms, console)
    if key in found and found[key].withdrawal is not None:
        console.say(withdrawal_words(found[key]))
    if placed is not None and placed.entry.archive_file in scan_inflight(stores.rows):
        console.warn("its file is being ingested or removed: readers do not see this capture")


def _give_body(
    stores: Stores, placed: Placed | None, name: str, view: ShowOptions, console: Console
) -> None:
    if placed is None:
        raise UnresolvedReference(
            "the catalogue does not say where it is stored: run fsck", file=name
        )
    write_body(read_body(stores.rows, stores.archive, placed, raw=view.raw), console)


def _before_ms(text: str) -> int:
    """One past the time given: what was written at it counts."""
    moment = parse_date(text)
    if moment is None:
        raise ConfigError(f"--as-of is {text!r}, and should be a time such as 2026-11-21T10:00:00Z")
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    since = moment - epoch
    return (since.days * 86400 + since.seconds) * 1000 + since.microseconds // 1000 + 1


def _show_local(place: RecordPlace, view: ShowOptions, console: Console) -> None:
    with open_local(place) as (source, record):
        if view.payload and record.type == "revisit":
            raise UnresolvedReference(
                "a revisit has no body of its own; ingest the file, or use `pinakes restore`",
                file=place.file,
                offset=place.offset,
            )
        if view.payload and not view.raw:
            require_sound(source, record)
        if view.payload:
            write_body(record.payload(), console)
        else:
            say_record(record, place, console)


def _show_place(stores: Stores, place: RecordPlace, view: ShowOptions, console: Console) -> None:
    """A record of the store that is no capture."""
    if view.before_ms is not None:
        raise ConfigError("only captures have a history, and this record is not a capture")
    # Of what is shown, findings are a part: only a body is given out.
    with open_at(stores, place, raw=view.raw or not view.payload) as record:
        if view.payload:
            write_body(record.payload(), console)
        else:
            say_record(record, place, console)

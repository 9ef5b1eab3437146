"""`pinakes show`: everything about one capture, now or as of a time; or its body."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from pinakes.archive_store.located import is_at, open_place
from pinakes.catalog.capture_history import CellState, read_cells
from pinakes.catalog.captures import Capture, Placed, get_captures, place_captures
from pinakes.catalog.file_records import capture_at, name_in_store
from pinakes.catalog.file_rows import scan_inflight
from pinakes.catalog.payloads import open_record, read_body
from pinakes.catalog.sound_records import require_sound
from pinakes.catalog.withdrawals import require_none_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_raw, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.captures import Place, format_ms, key_or_place, withdrawal_words
from pinakes.counts import count_of
from pinakes.errors import (
    ConfigError,
    InputRefused,
    MalformedRecord,
    UnresolvedReference,
)
from pinakes.hbase_schema.capture_cells import Location
from pinakes.profile import Stores, open_stores
from pinakes.row_store.port import StoredCell
from pinakes.warc.dates import parse_date
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What to show of a capture: its cells, all or those written before a time, or its body."""

    before_ms: int | None
    payload: bool
    raw: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """A capture, or a place in a file."""
    parser.add_argument(
        "capture", metavar="CAPTURE", help="as printed by timeline, or FILE:OFFSET (in quotes)"
    )
    parser.add_argument(
        "--as-of",
        metavar="TIME",
        help="show the capture as it was at this time: 2026-11-21T10:00:00.123Z",
    )
    parser.add_argument(
        "--payload",
        action="store_true",
        help="write the stored body to standard output; it never changes",
    )
    add_raw(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Cells, a record, or a body."""
    before_ms = _before_ms(arguments.as_of) if arguments.as_of else None
    view = View(before_ms=before_ms, payload=arguments.payload, raw=arguments.raw)
    named = key_or_place(arguments.capture)
    if isinstance(named, Place) and is_at(named.file):
        if before_ms is not None:
            raise ConfigError("--as-of: a file outside the store has no history")
        _show_local(named, view, console)
        return Exit.DONE
    with open_stores(configuration_of(arguments)) as stores:
        if isinstance(named, Place):
            _show_place(stores, named, view, console)
        else:
            _show_capture(stores, named, view, console)
    return Exit.DONE


def _show_capture(stores: Stores, key: bytes, view: View, console: Console) -> None:
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
        _write_body(stores, placed, name, view, console)
        return
    _print_cells(cells, name, placed, view.before_ms, console)
    _say_withdrawn(found.get(key), console)
    if placed is not None and placed.entry.archive_file in scan_inflight(stores.rows):
        console.warn("its file is being ingested or removed: readers do not see this capture")


def _say_withdrawn(capture: Capture | None, console: Console) -> None:
    if capture is not None and capture.withdrawal is not None:
        console.say(withdrawal_words(capture))


def _write_body(
    stores: Stores, placed: Placed | None, name: str, view: View, console: Console
) -> None:
    if placed is None:
        raise UnresolvedReference(
            "the catalogue does not say where it is stored: run fsck", file=name
        )
    out = console.binary_out
    for piece in read_body(stores.rows, stores.archive, placed, raw=view.raw):
        out.write(piece)
    out.flush()


def _print_cells(
    cells: Sequence[CellState],
    name: str,
    placed: Placed | None,
    before_ms: int | None,
    console: Console,
) -> None:
    if console.json:
        console.result(
            {
                "capture": name,
                # Its file then may be gone; the one that it is in now was not there.
                "file": placed.file if placed is not None and before_ms is None else None,
                "as_of": format_ms(before_ms - 1) if before_ms is not None else None,
                "cells": {column: _cell_object(cell, kept) for column, cell, kept in cells},
            }
        )
        return
    console.result(f"capture  {name}")
    if placed is not None and before_ms is None:
        place = f"{placed.file}:{placed.location.offset}"
        console.result(f"lies at  {printable(place)}, {placed.location.length} bytes")
    if not cells:
        console.result("not in the catalogue then")
    for column, cell, _ in cells:
        if cell is None:
            console.result(f"{column}  not kept: older versions have gone")
        else:
            value = cell.value.decode("utf-8", "replace")
            console.result(f"{column}  {format_ms(cell.timestamp_ms)}  {printable(value)}")


def _cell_object(cell: StoredCell | None, kept: bool) -> dict[str, object]:
    if cell is None:
        return {"kept": kept, "value": None, "written": None}
    return {
        "kept": kept,
        "value": json.loads(cell.value),
        "written": format_ms(cell.timestamp_ms),
    }


def _before_ms(text: str) -> int:
    """One past the time given: what was written at it counts."""
    moment = parse_date(text)
    if moment is None:
        raise ConfigError(f"--as-of is {text!r}, and should be a time such as 2026-11-21T10:00:00Z")
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    since = moment - epoch
    return (since.days * 86400 + since.seconds) * 1000 + since.microseconds // 1000 + 1


def _show_local(place: Place, view: View, console: Console) -> None:
    with open_place(place.file) as source:
        record = read_record(source, place.offset, inner_offset=place.inner_offset or 0)
        if not isinstance(record, Record) or record.offset != place.offset:
            raise MalformedRecord("no record begins here", file=place.file, offset=place.offset)
        if view.payload and record.type == "revisit":
            raise UnresolvedReference(
                "a revisit has no body of its own; ingest the file, or use `pinakes restore`",
                file=place.file,
                offset=place.offset,
            )
        if view.payload and not view.raw:
            require_sound(source, record)
        _show_record(record, place, view, console)


def _show_place(stores: Stores, place: Place, view: View, console: Console) -> None:
    """What lies at a place of the store: the capture, or a record that is none."""
    place = place._replace(file=name_in_store(stores.rows, stores.archive, place.file))
    key = capture_at(stores.archive, *place)
    if key is not None:
        _show_capture(stores, key, view, console)
        return
    if view.before_ms is not None:
        raise ConfigError("only captures have a history, and this record is not a capture")
    require_none_at(stores.rows, stores.archive, place.file, place.offset, place.inner_offset or 0)
    location = Location(offset=place.offset, length=0, inner_offset=place.inner_offset or 0)
    # Of what is shown, findings are a part: only a body is given out.
    raw = view.raw or not view.payload
    with open_record(stores.archive, place.file, location, rows=stores.rows, raw=raw) as record:
        _show_record(record, place, view, console)


def _show_record(record: Record, place: Place, view: View, console: Console) -> None:
    if view.payload:
        out = console.binary_out
        for piece in record.payload():
            out.write(piece)
        out.flush()
        return
    head = record.http.raw if record.http is not None else b""
    console.result(
        {
            "file": place.file,
            "offset": record.offset,
            "length": record.length,
            "type": record.type,
            "header": _text(record.header.raw),
            "http": _text(head) if head else None,
            "payload_size": record.payload_size,
            "payload_sha1": str(record.payload_digest()),
            "findings": [finding._asdict() for finding in record.findings],
        },
        text="\n".join(
            [
                f"{printable(place.file)}:{record.offset}, {record.length} bytes",
                _text(record.header.raw).rstrip("\r\n").replace("\r\n", "\n"),
                *([_text(head).rstrip("\r\n").replace("\r\n", "\n")] if head else []),
                f"payload: {count_of(record.payload_size, 'byte')}, {record.payload_digest()}",
                *(f"finding: {f.offset}: {f.code}: {f.message}" for f in record.findings),
            ]
        ),
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")

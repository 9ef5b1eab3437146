"""What `pinakes show` says of a capture or a record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pinakes.application.records import RecordPlace
from pinakes.catalog.capture_history import CellState
from pinakes.catalog.captures import Placed
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.captures import format_ms
from pinakes.counts import count_of
from pinakes.row_store.port import StoredCell
from pinakes.warc.record import Record


def write_body(body: Iterable[bytes | memoryview], console: Console) -> None:
    """A body, and nothing else."""
    console.binary_out.writelines(body)
    console.binary_out.flush()


def say_cells(
    cells: Sequence[CellState],
    name: str,
    placed: Placed | None,
    before_ms: int | None,
    console: Console,
) -> None:
    """All that rows have of a capture, now or before a time."""
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
        console.result(f"place    {printable(place)}, {placed.location.length} bytes")
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


def say_record(record: Record, place: RecordPlace, console: Console) -> None:
    """A record that is no capture of the store, with its findings."""
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

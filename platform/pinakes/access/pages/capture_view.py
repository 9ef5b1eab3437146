"""Everything about one capture: its record's heads, places, history, references, verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pinakes.access.readable import ReadableCaptures, Shown
from pinakes.catalog.capture_history import read_cells
from pinakes.catalog.captures import TABLE, Placed
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.judged_pairs import StoredPair, scan_pairs
from pinakes.catalog.payloads import open_placed
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import Location, QaVerdict
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.row_store.port import RowStore
from pinakes.warc.record import Record

from .references import Original, Referrers, original_of, referrers_of

WITHDRAWN = "m:withdrawn"
"""Of its cell the reason is shown, and not who asked."""

_PLACES = 20
_PAIRS = 50
_HEAD_BYTES = 64 << 10
_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The record as it is stored now: its WARC header and HTTP head, in lines."""

    type: str
    warc: tuple[str, ...]
    http: tuple[str, ...]
    is_cut: bool
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the record is in one generation of its file; `is_there` is None if that is unknown."""

    generation: int
    file: str
    location: Location
    facts: GenerationFacts | None
    is_current: bool
    is_there: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of one cell."""

    written_ms: int
    column: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureView:
    """What the page of a capture shows; `problem` is why the record could not be read.

    `withdrawal` is why it was taken down, if it was.
    """

    shown: Shown
    withdrawal: str | None
    heads: Heads | None
    problem: str | None
    places: tuple[Place, ...]
    history: tuple[Version, ...]
    original: Original | None
    referrers: Referrers
    verdict: QaVerdict | None
    pairs: tuple[StoredPair, ...]


def read_view(captures: ReadableCaptures, shown: Shown) -> CaptureView:
    """Read all of it: some round trips, some hundred rows, and the head of the record."""
    rows, key = captures.rows, shown.capture.key
    history = sorted(_history(rows, key), key=lambda one: -one.written_ms)
    heads: Heads | None = None
    problem: str | None = "Its place is not known: `pinakes fsck` looks for it."
    if shown.placed is not None:
        heads, problem = _heads(captures, shown.placed)
    verdict = _verdict(rows, key)
    pairs = scan_pairs(rows, verdict.run, key) if verdict is not None else iter(())
    return CaptureView(
        shown=shown,
        withdrawal=next((one.value for one in history if one.column == WITHDRAWN), None),
        heads=heads,
        problem=problem,
        places=tuple(_places(captures, shown)),
        history=tuple(history),
        original=original_of(captures, shown.capture),
        referrers=referrers_of(captures, shown),
        verdict=verdict,
        pairs=tuple(pair for pair, _ in zip(pairs, range(_PAIRS), strict=False)),
    )


def _heads(captures: ReadableCaptures, placed: Placed) -> tuple[Heads | None, str | None]:
    try:
        with open_placed(captures.rows, captures.archive, placed) as record:
            return _heads_of(record), None
    except PinakesError as error:
        return None, str(error)


def _heads_of(record: Record) -> Heads:
    warc = record.header.raw
    http = record.http.raw if record.http is not None else b""
    return Heads(
        type=record.type,
        warc=_lines(warc),
        http=_lines(http),
        is_cut=max(len(warc), len(http)) > _HEAD_BYTES
        or max(warc.count(b"\n"), http.count(b"\n")) > _LINES,
        findings=tuple(f"{finding.code}: {finding.message}" for finding in record.findings),
    )


def _lines(raw: bytes) -> tuple[str, ...]:
    text = raw[:_HEAD_BYTES].decode("utf-8", "surrogateescape").rstrip("\r\n")
    lines = text.split("\n") if text else []
    return tuple(line.removesuffix("\r") for line in lines[:_LINES])


def _places(captures: ReadableCaptures, shown: Shown) -> Iterator[Place]:
    name = shown.entry.archive_file
    generations = read_generations(captures.rows, name)
    for number, location in sorted(shown.capture.locations.items())[-_PLACES:]:
        file = generation_file(name, number, location.ending)
        try:
            is_there = captures.archive.size(file) is not None
        except PinakesError:
            is_there = None
        yield Place(
            generation=number,
            file=file,
            location=location,
            facts=generations.get(number),
            is_current=number == shown.entry.generation,
            is_there=is_there,
        )


def _history(rows: RowStore, key: bytes) -> Iterator[Version]:
    for state in read_cells(rows, key):
        for cell in rows.versions(TABLE, key, state.column.encode("ascii")):
            value = cell.value.decode("utf-8", "replace")
            if state.column == WITHDRAWN:
                value = str(json.loads(cell.value).get("reason", ""))
            yield Version(written_ms=cell.timestamp_ms, column=state.column, value=value)


def _verdict(rows: RowStore, key: bytes) -> QaVerdict | None:
    row = rows.get_rows(TABLE, [key], columns=[QaVerdict.COLUMN]).get(key)
    value = row.value(QaVerdict.COLUMN) if row is not None else None
    return decode_cell(QaVerdict, value) if value is not None else None

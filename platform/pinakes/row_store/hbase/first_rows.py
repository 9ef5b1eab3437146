"""The first rows of many ranges: parallel scanners instead of sequential ones.

A scanner is three calls, and a call is mostly waiting.  So the scanners of some ranges are opened
together with one wait, then read and closed with another; several such parts run in parallel, each
on its own connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import Row

from .batches import ANSWER_ROWS, pieces
from .calls import side_by_side
from .ranges import ScanRange
from .reads import FIRST_PIECE_ROWS, Reading, some_rows
from .wire import Call

RANGES_TOGETHER = 50


def first_rows(
    reading: Reading, key_ranges: Sequence[KeyRange], limit_rows: int
) -> Iterator[list[Row]]:
    """The rows of each range, up to the limit, in the order of the ranges.

    Memory: the rows of some parts; with a high limit, parts have few ranges.
    """
    together = max(1, min(RANGES_TOGETHER, ANSWER_ROWS // limit_rows))
    parts = pieces([ScanRange(keys, False) for keys in key_ranges], together)
    for found in side_by_side(parts, lambda part: _rows_of_part(reading, part, limit_rows)):
        yield from found


def rows_around(
    reading: Reading, key_range: KeyRange, key: bytes, limit_rows: int
) -> tuple[list[Row], list[Row]]:
    """The rows before a key, in reverse, and those from it on, up to the limit each."""
    before = ScanRange(KeyRange(key_range.start_row, key), True)
    after = ScanRange(KeyRange(key, key_range.stop_row), False)
    earlier, later = _rows_of_part(reading, [before, after], limit_rows)
    return earlier, later


def _rows_of_part(
    reading: Reading, ranges: Sequence[ScanRange], limit_rows: int
) -> list[list[Row]]:
    """The rows of some ranges; long ones are then continued as by a scan."""
    asked_rows = min(limit_rows, FIRST_PIECE_ROWS)
    some = [scan_range for scan_range in dict.fromkeys(ranges) if not scan_range.is_empty]
    found = _first_pieces(reading, some, asked_rows)
    for scan_range, rows in found.items():
        if len(rows) == asked_rows < limit_rows:
            rest = scan_range.after(rows[-1].key)
            rows.extend(reading.scan(rest, limit_rows - asked_rows))
    return [found.get(scan_range, []) for scan_range in ranges]


def _first_pieces(
    reading: Reading, ranges: Sequence[ScanRange], asked_rows: int
) -> dict[ScanRange, list[Row]]:
    """The first rows of each range, by range."""
    if reading.finds_nothing or not ranges:
        return {}
    scanned_rows = [asked_rows + r.surplus_rows for r in ranges]
    openings = [
        Call("scannerOpenWithScan", (reading.name, reading.scanner(r, rows), {}))
        for r, rows in zip(ranges, scanned_rows, strict=True)
    ]

    def ask(client: Any) -> list[list[Row]]:
        scanners = reading.calls.each(client, openings)
        each = zip(scanners, scanned_rows, strict=True)
        calls = [call for scanner, rows in each for call in some_rows(scanner, rows)]
        answers = reading.calls.each(client, calls)
        return [list(map(reading.row, found)) for found in answers[::2]]

    answers = reading.calls.call(ask)
    return {
        r: [row for row in rows if row.key in r.keys][:asked_rows]
        for r, rows in zip(ranges, answers, strict=True)
    }

"""Reads rows from one HBase table: by key, by range, and at an earlier time.

A range is read in pieces, each with its own scanner, which is closed before its rows are
yielded: so a reader may take its time, and a failed piece is repeated after the last row yielded.

HBase keeps surplus versions until a compaction, and returns them for times before the oldest kept
version.  So rows read with a time bound are compared with the newest; where they differ, the kept
versions decide.

For HBase's check-and-put an empty value is the same as none: a put on condition that there is no
cell would overwrite an empty cell.  So no empty value is stored: in store-clock families an empty
value is 0x00, and a value that begins with 0x00 gets another 0x00 before it.  Our cells are JSON
(docs/storage.md), and stored unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pinakes.row_store.port import Row, StoredCell
from pinakes.row_store.rules import TableRules

from .batches import (
    ANSWER_ROWS,
    KEYS_PER_CALL,
    key_parts,
    narrowed,
    next_piece_rows,
    pieces,
)
from .calls import PARTS_AT_ONCE, HBaseCalls, side_by_side
from .ranges import ScanRange
from .wire import Call

FIRST_PIECE_ROWS = 500


def some_rows(scanner: int, rows: int) -> list[Call]:
    """The calls for the next rows of a scanner, and for closing it."""
    return [Call("scannerGetList", (scanner, rows)), Call("scannerClose", (scanner,))]


class Reading(NamedTuple):
    """What to read of each row of a table: columns and families (None: all), and how old."""

    calls: HBaseCalls
    name: bytes
    rules: TableRules
    selected: tuple[bytes, ...] | None
    before_ms: int | None

    @property
    def finds_nothing(self) -> bool:
        """Whether no column is selected, so that nothing has to be read."""
        return self.selected == () or (self.before_ms is not None and self.before_ms <= 0)

    @property
    def columns(self) -> list[bytes] | None:
        """The columns in HBase's form."""
        return None if self.selected is None else narrowed(self.selected)

    def get(self, keys: Sequence[bytes]) -> Iterator[Row]:
        """The rows that exist among these keys, some hundred per call."""
        if self.finds_nothing:
            return
        wanted = list(dict.fromkeys(keys))
        for rows in side_by_side(key_parts(wanted, PARTS_AT_ONCE), self._get_kept):
            yield from rows

    def scan(self, scan_range: ScanRange, limit_rows: int | None) -> Iterator[Row]:
        """The rows of a range, piece by piece."""
        if self.finds_nothing or scan_range.is_empty:
            return
        given = 0
        piece_rows = FIRST_PIECE_ROWS
        while limit_rows is None or given < limit_rows:
            asked_rows = piece_rows if limit_rows is None else min(piece_rows, limit_rows - given)
            rows, is_last = self._piece(scan_range, asked_rows)
            kept = rows if self.before_ms is None else list(self._kept(rows))
            yield from kept
            if is_last:
                return
            given += len(kept)
            scan_range = scan_range.after(rows[-1].key)
            piece_rows = next_piece_rows(asked_rows, len(rows), _size_bytes(rows))

    def versions(self, row: bytes, column: bytes) -> list[StoredCell]:
        """The kept versions of a cell, newest first."""
        family = self.rules.family_of(column)
        cells = self.calls.call(
            lambda client: client.getVer(self.name, row, column, family.versions, {})
        )
        decode = bytes if family.act_time else decode_present
        return [StoredCell(decode(cell.value), cell.timestamp) for cell in cells]

    def _get(self, keys: Sequence[bytes], before_ms: int | None) -> list[Row]:
        def ask(client: Any) -> Any:
            if before_ms is None:
                return client.getRowsWithColumns(self.name, keys, self.columns, {})
            return client.getRowsWithColumnsTs(self.name, keys, self.columns, before_ms, {})

        return [self.row(found) for found in self.calls.call(ask)]

    def _get_kept(self, keys: Sequence[bytes]) -> list[Row]:
        rows = self._get(keys, self.before_ms)
        return rows if self.before_ms is None else [*self._kept(rows)]

    def _piece(self, scan_range: ScanRange, asked_rows: int) -> tuple[list[Row], bool]:
        """The first rows of a range, at most `asked_rows`; and whether the range ends there."""
        scanned_rows = asked_rows + scan_range.surplus_rows
        scan = self.scanner(scan_range, scanned_rows)

        def ask(client: Any) -> list[Row]:
            scanner = client.scannerOpenWithScan(self.name, scan, {})
            rows: list[Row] = []
            while scanned_rows - len(rows) > ANSWER_ROWS:
                found = client.scannerGetList(scanner, ANSWER_ROWS)
                rows += map(self.row, found)
                if len(found) < ANSWER_ROWS:
                    client.scannerClose(scanner)
                    return rows
            # Closing costs no wait: it is sent with the last request.
            [found, _] = self.calls.each(client, some_rows(scanner, scanned_rows - len(rows)))
            return [*rows, *map(self.row, found)]

        rows = self.calls.call(ask)
        keys = scan_range.keys
        at_end = len(rows) < scanned_rows or rows[-1].key < keys.start_row
        if scan_range.reverse:
            rows = [row for row in rows if row.key in keys]
        return rows[:asked_rows], at_end and len(rows) <= asked_rows

    def scanner(self, scan_range: ScanRange, scanned_rows: int) -> Any:
        """The arguments for opening a scanner, for so many rows."""
        return self.calls.interface.TScan(
            startRow=scan_range.first_row,
            stopRow=scan_range.last_row or None,
            timestamp=self.before_ms,
            columns=self.columns,
            caching=min(scanned_rows, ANSWER_ROWS),
            reversed=scan_range.reverse,
        )

    def row(self, found: Any) -> Row:
        """A row from HBase's result."""
        columns = found.columns.items()
        cells = {column: StoredCell(cell.value, cell.timestamp) for column, cell in columns}
        if self.rules.present_families:
            for column, (value, time_ms) in cells.items():
                if not self.rules.family_of(column).act_time:
                    cells[column] = StoredCell(decode_present(value), time_ms)
        return Row(found.row, cells)

    def _kept(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Rows read with a time bound, without versions that are no longer kept."""
        for some in pieces(rows, KEYS_PER_CALL):
            newest = {row.key: row.cells for row in self._get([row.key for row in some], None)}
            for row in some:
                now = newest.get(row.key, {})
                cells = {
                    column: cell
                    for column, cell in row.cells.items()
                    if now.get(column) == cell or cell in self.versions(row.key, column)
                }
                if cells:
                    yield Row(row.key, cells)


def _size_bytes(rows: Sequence[Row]) -> int:
    cells = sum(len(row.cells) * len(row.key) for row in rows)
    return cells + sum(len(cell.value) for row in rows for cell in row.cells.values())


_MARK = b"\0"


def encode_present(value: bytes) -> bytes:
    """The value as it is stored: never empty."""
    return _MARK + value if not value or value.startswith(_MARK) else value


def decode_present(stored: bytes) -> bytes:
    """The value as it was given."""
    return stored[1:] if stored.startswith(_MARK) else stored

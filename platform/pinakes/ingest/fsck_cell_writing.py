"""Writes cells of one file's rows anew for fsck, at the times at which they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

from pinakes.catalog.file_rows import FileEntry, Held
from pinakes.catalog.row_deletion import RowName
from pinakes.errors import Conflict, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.columns import column_suffix
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Delete, Put, RowStore, get_row


class CellChange(NamedTuple):
    """A cell as it should be; `value` None: it should not be there.

    `run` is the run that decided, of a decision.
    """

    table: str
    key: bytes
    column: bytes
    value: bytes | None
    run: str | None = None


class CellWriter:
    """Puts cells right; its caller holds the file."""

    def __init__(self, rows: RowStore, entry: FileEntry) -> None:
        self._rows = rows
        self._entry = entry

    def landed_ms(self) -> int:
        """The time of the landing: that of the facts it wrote."""
        key = encode_file_key(self._entry.archive_file)
        row = get_row(self._rows, "files", key, columns=[FileFacts.COLUMN])
        if row is None:
            raise SchemaError("its facts were deleted meanwhile", file=self._entry.stored_name)
        return row.cells[FileFacts.COLUMN].timestamp_ms

    def put(self, changes: Sequence[CellChange], held: Held) -> None:
        """Write or delete cells of captures, digests and the file.

        What stands is replaced at its own time, for an older cell would stay behind it; what is
        missing is written at the time at which it was first, or, behind a delete, at this act's.
        """
        times = self._times_ms()
        for table in sorted({change.table for change in changes}):
            some = [change for change in changes if change.table == table]
            rows = self._rows.get_rows(table, sorted({change.key for change in some}))
            puts: list[Put] = []
            deletes: list[Delete] = []
            for change in some:
                row = rows.get(change.key)
                cell = row.cells.get(change.column) if row is not None else None
                if change.value is None and cell is not None:
                    deletes.append(Delete(change.key, cell.timestamp_ms, columns=(change.column,)))
                elif change.value is not None and (cell is None or cell.value != change.value):
                    time_ms = cell.timestamp_ms if cell is not None else times.first(change)
                    puts.append(Put(change.key, {change.column: change.value}, time_ms))
            self._rows.mutate(table, deletes)
            self._put_behind_deletes(table, puts, held)

    def _put_behind_deletes(self, table: str, puts: Sequence[Put], held: Held) -> None:
        try:
            self._rows.mutate(table, puts)
        except Conflict:
            for put in puts:
                with suppress(Conflict):
                    self._rows.mutate(table, [put])
        # A store may take what it then hides.
        rows = self._rows.get_rows(table, sorted({put.row for put in puts})) if puts else {}
        hidden = [
            put._replace(timestamp_ms=held.claim.act_time_ms)
            for put in puts
            for column, value in put.cells.items()
            if put.row not in rows or rows[put.row].value(column) != value
        ]
        self._rows.mutate(table, hidden)

    def _times_ms(self) -> _Times:
        key = encode_file_key(self._entry.archive_file)
        row = get_row(self._rows, "files", key, columns=[b"f"])
        cells = row.cells if row is not None else {}
        generations = {}
        for column, cell in cells.items():
            if column.startswith(GenerationFacts.COLUMN):
                with suppress(MalformedRecord):
                    act = decode_cell(GenerationFacts, cell.value).act
                    generations[int(column_suffix(column))] = (act, cell.timestamp_ms)
        return _Times(self.landed_ms(), generations, self._entry.generation)


class _Times(NamedTuple):
    """When the cells of a file's rows were first written: act and time of each generation."""

    landed_ms: int
    generations: Mapping[int, tuple[str, int]]
    current: int

    def first(self, change: CellChange) -> int:
        """When this cell was."""
        if change.column.startswith(Location.COLUMN):
            return self._of(int(column_suffix(change.column)))
        if change.column.startswith(GenerationFacts.COLUMN):
            return self.landed_ms
        if change.column in (DedupeMark.COLUMN, Pin.COLUMN):
            times = [time_ms for act, time_ms in self.generations.values() if act == change.run]
            return min(times) if times else self._of(self.current)
        return self.landed_ms

    def _of(self, number: int) -> int:
        return self.generations.get(number, ("", self.landed_ms))[1]


def delete_as_they_stand(store: RowStore, names: Iterable[RowName]) -> None:
    """Delete rows of captures and digests that are of no record, at the times of their cells.

    A pin stays, as `delete_rows` leaves it: unless it cannot be read.
    """
    for table, some in groupby(sorted(names), key=lambda name: name.table):
        rows = store.get_rows(table, [name.key for name in some])
        store.mutate(
            table,
            [
                Delete(row.key, cell.timestamp_ms, columns=(column,))
                for row in rows.values()
                for column, cell in row.cells.items()
                if column != Pin.COLUMN or not _is_pin(cell.value)
            ],
        )


def _is_pin(value: bytes) -> bool:
    try:
        return bool(decode_cell(Pin, value))
    except (MalformedRecord, SchemaError):
        return False

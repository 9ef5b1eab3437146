"""The cells of one file's rows as fsck writes them: at the times at which they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.kept_repairs import RowChange
from pinakes.errors import MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.columns import column_suffix
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import RowStore, StoredCell, get_row


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
    """Says how cells are put right."""

    def __init__(self, rows: RowStore, entry: FileEntry) -> None:
        self._rows = rows
        self._entry = entry

    def landed_ms(self) -> int:
        """The time of the landing: that of the facts it wrote."""
        key = encode_file_key(self._entry.archive_file)
        row = get_row(self._rows, "files", key, columns=[FileFacts.COLUMN])
        if row is None:
            raise SchemaError("its facts have been deleted since", file=self._entry.stored_name)
        return row.cells[FileFacts.COLUMN].timestamp_ms

    def changes(self, cells: Sequence[CellChange]) -> Iterator[RowChange]:
        """The changes of rows that put these cells of captures, digests and the file right.

        What stands is replaced at its own time, for an older cell would stay behind it; what is
        missing is written at the time at which it was first.
        """
        times = self._times_ms()
        for table in sorted({cell.table for cell in cells}):
            wanted: dict[bytes, list[CellChange]] = {}
            for cell in cells:
                if cell.table == table:
                    wanted.setdefault(cell.key, []).append(cell)
            columns = sorted({cell.column for cell in cells if cell.table == table})
            rows = self._rows.get_rows(table, sorted(wanted), columns=columns)
            for key, of_row in wanted.items():
                row = rows.get(key)
                change = _changed(table, key, row.cells if row is not None else {}, of_row, times)
                if change is not None:
                    yield change

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


def _changed(
    table: str,
    key: bytes,
    there: Mapping[bytes, StoredCell],
    cells: Sequence[CellChange],
    times: _Times,
) -> RowChange | None:
    before, after = {}, {}
    for cell in cells:
        stands = there.get(cell.column)
        if (stands.value if stands is not None else None) == cell.value:
            continue
        if stands is not None:
            before[cell.column] = stands
        if cell.value is not None:
            time_ms = stands.timestamp_ms if stands is not None else times.first(cell)
            after[cell.column] = StoredCell(cell.value, time_ms)
    return RowChange(table, key, before, after) if before or after else None

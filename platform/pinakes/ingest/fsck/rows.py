"""The rows that one stored file must have, by its sidecar, compared with those that it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pinakes.catalog.captures import readable_captures
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.generation_rows import mark_of, without_decision
from pinakes.catalog.kept_repairs import RowChange, deletions
from pinakes.catalog.record_rows import capture_cells, digest_rows, location_of
from pinakes.catalog.row_deletion import RowName, rows_of_records
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark, Location
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.port import RowStore

from .cell_writing import CellChange, CellWriter

_UNKNOWN = "not known: see the run of this act"


class WantedRows:
    """The changes that give the rows of one file the cells that its landing and runs wrote."""

    def __init__(
        self,
        rows: RowStore,
        entry: FileEntry,
        facts: FileFacts,
        generations: Mapping[int, GenerationFacts],
    ) -> None:
        self._rows = rows
        self._entry = entry
        self._facts = facts
        self._generations = generations
        self._cells = CellWriter(rows, entry)

    def changes(self, batch: Sequence[SidecarRow]) -> Iterator[RowChange]:
        """The changes that make the rows of these records as they were first written."""
        generation = self._entry.generation
        column = numbered_column(Location, generation)
        changes = self._lost_marks(batch)
        withdrawn = self._withdrawn_cells(batch)
        keys = [row.row_key for row in batch if row.row_key is not None]
        known = readable_captures(self._rows, keys) if generation != 1 else {}
        for row in batch:
            if row.row_key is None:
                continue
            landed = without_decision(row) if row.is_replaced else row
            # Of a later generation, only the row, or the first sidecar, knows where it lay first.
            capture = known.get(row.row_key)
            first = capture.locations.get(1) if capture is not None else None
            if first is not None:
                landed = landed._replace(
                    offset=first.offset, length=first.length, inner_offset=first.inner_offset
                )
            cells = capture_cells(
                landed,
                self._entry.archive_file,
                generation=generation if first is None else 1,
            )
            if generation != 1:
                cells[column] = encode_cell(location_of(row, self._entry.ending))
            if is_tombstone_row(row):
                cells = {column: cells[column], **withdrawn.get(row.row_key, cells)}
            changes += _changes("captures", row.row_key, cells)
            for key, of_digest in digest_rows(
                row, self._entry.archive_file, self._facts.collection
            ):
                changes += _changes("digests", key, of_digest)
        yield from self._cells.changes(changes)

    def deletions(self, names: Sequence[RowName]) -> Iterator[RowChange]:
        """The changes that delete these rows."""
        for table in ("captures", "digests"):
            keys = [row.key for row in names if row.table == table]
            yield from deletions(self._rows, table, keys)

    def names_of(self, rows: Iterable[SidecarRow]) -> Iterator[RowName]:
        """The rows that these records must have."""
        return rows_of_records(rows, self._entry.archive_file, self._facts.collection)

    def _withdrawn_cells(self, batch: Sequence[SidecarRow]) -> dict[bytes, dict[bytes, bytes]]:
        """Of withdrawn captures, besides their place: nothing where their rows are there, since
        those say more than the sidecar; else what that says, and that they were withdrawn."""
        rows = {row.row_key: row for row in batch if row.row_key and is_tombstone_row(row)}
        if not rows:
            return {}
        columns = [CaptureFacts.COLUMN, Withdrawal.COLUMN]
        known = self._rows.get_rows("captures", list(rows), columns=columns)
        facts = self._generations[self._entry.generation]
        cell = Withdrawal(act=facts.act, act_time_ms=0, reason=_UNKNOWN, by=_UNKNOWN, asked="")
        lost = {Withdrawal.COLUMN: encode_cell(cell)}
        name, generation = self._entry.archive_file, self._entry.generation
        return {
            key: {
                column: value
                for column, value in (
                    capture_cells(row, name, generation=generation) | lost
                ).items()
                if key not in known or column not in known[key].cells
            }
            for key, row in rows.items()
        }

    def _lost_marks(self, batch: Sequence[SidecarRow]) -> list[CellChange]:
        """The dedupe marks of this generation that were lost with their rows."""
        decided = {row.row_key: row for row in batch if row.row_key and row.copy_number}
        if not decided:
            return []
        known = self._rows.get_rows("captures", list(decided), columns=[DedupeMark.COLUMN])
        facts = self._generations.get(self._entry.generation)
        if facts is None:
            return []
        marks = ((key, mark_of(row, facts.act)) for key, row in decided.items() if key not in known)
        return [
            CellChange("captures", key, DedupeMark.COLUMN, encode_cell(mark), facts.act)
            for key, mark in marks
            if mark is not None
        ]


def _changes(table: str, key: bytes, cells: Mapping[bytes, bytes]) -> list[CellChange]:
    return [CellChange(table, key, column, value) for column, value in cells.items()]

"""Repairs the sidecar and the rows of one landed file for fsck.

Missing facts are written again as the landing wrote them, with its act time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import TypeVar

from pinakes.archive_store.anew import write_anew
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.asides import SIDECAR, aside_token
from pinakes.catalog.captures import readable_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations, read_rows_anew
from pinakes.catalog.file_rows import FileEntry, Held, put_references_kept
from pinakes.catalog.generation_rows import (
    mark_of,
    read_generation_rows,
    without_decision,
)
from pinakes.catalog.record_rows import capture_cells, digest_rows, location_of
from pinakes.catalog.row_deletion import RowName, delete_rows, rows_of_records
from pinakes.catalog.sidecar import SidecarRow, sidecar_name, write_sidecar
from pinakes.catalog.withdrawals import is_entombed
from pinakes.errors import InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.port import Put, RowStore

from .fsck_cell_writing import CellChange, CellWriter

UNREADABLE = (OSError, MalformedRecord, SchemaError)
"""What reading a damaged sidecar raises."""
_BATCH_ROWS = 1000
T = TypeVar("T")
_UNKNOWN = "not known: see the run of this act"
Claiming = Callable[[FileEntry], AbstractContextManager[Held]]


def iter_batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows in lists that fit one round trip."""
    iterator = iter(rows)
    while batch := list(islice(iterator, _BATCH_ROWS)):
        yield batch


class StoredFileMender:
    """Repairs one stored file in its current generation; claims the file for each repair."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        claim: Claiming,
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._claim = claim
        self._name = entry.stored_name
        self._cells = CellWriter(rows, entry)

    def rebuild(self) -> None:
        """Write sidecar and rows of the current generation as its landing or run wrote them.

        Rows found through the old sidecar but not the new one are deleted.
        """
        act_time_ms = self._cells.landed_ms()
        name = self._entry.archive_file
        with self._claim(self._entry) as held:
            before = self._row_names()
            write_anew(lambda: self._write_sidecar(held.claim.token, act_time_ms), name)
            after = self._row_names()
            delete_rows(self._rows, sorted(before - after), {name: held.claim.act_time_ms})
            for batch in iter_batches(iter_sidecar(self._archive, self._name)):
                self._put_rows(batch, held)

    def _write_sidecar(self, token: str, act_time_ms: int) -> None:
        with self._archive.create_aside(aside_token(token, SIDECAR)) as aside:
            write_sidecar(aside.file, self._rows_anew(act_time_ms))
            aside.checksum()
            self._archive.delete(sidecar_name(self._name))
            aside.publish(sidecar_name(self._name))

    def _rows_anew(self, act_time_ms: int) -> Iterator[SidecarRow]:
        if self._entry.generation == 1:
            return read_rows_anew(self._archive, self._name, act_time_ms=act_time_ms)
        return read_generation_rows(
            self._rows,
            self._archive,
            self._entry.archive_file,
            self._name,
            act_time_ms=act_time_ms,
        )

    def _row_names(self) -> set[RowName]:
        """The rows found through the sidecar; empty if it cannot be read."""
        name = self._entry.archive_file
        try:
            rows = iter_sidecar(self._archive, self._name)
            return set(rows_of_records(rows, name, self._facts.collection))
        except (*UNREADABLE, InputRefused):
            return set()

    def write_again(self, batch: Sequence[SidecarRow]) -> None:
        """Write the rows of these records again, as they were first written."""
        with self._claim(self._entry) as held:
            self._put_rows(batch, held)

    def put_right(self, changes: Sequence[CellChange]) -> None:
        """Write these cells of captures, digests and the file itself, or delete them."""
        with self._claim(self._entry) as held:
            self._cells.put(changes, held)

    def keep_references(self) -> None:
        """Note that all its revisits have rows by what they refer to."""
        with self._claim(self._entry) as held:
            put_references_kept(self._rows, held, self._facts)

    def pin(self, originals: Sequence[bytes]) -> None:
        """Pin captures that revisits of this file refer to."""
        run = read_generations(self._rows, self._entry.archive_file)[self._entry.generation].act
        cell = {Pin.COLUMN: encode_cell(Pin(run=run))}
        with self._claim(self._entry) as held:
            puts = [Put(key, cell, held.claim.act_time_ms) for key in originals]
            self._rows.mutate("captures", puts)

    def _put_rows(self, batch: Sequence[SidecarRow], held: Held) -> None:
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
            if is_entombed(row):
                cells = {column: cells[column], **withdrawn.get(row.row_key, cells)}
            changes += _changes("captures", row.row_key, cells)
            for key, of_digest in digest_rows(
                row, self._entry.archive_file, self._facts.collection
            ):
                changes += _changes("digests", key, of_digest)
        self._cells.put(changes, held)

    def _withdrawn_cells(self, batch: Sequence[SidecarRow]) -> dict[bytes, dict[bytes, bytes]]:
        """Of withdrawn captures, besides their place: nothing where their rows are there, since
        those tell more than the sidecar; else what that tells, and that they were withdrawn."""
        rows = {row.row_key: row for row in batch if row.row_key and is_entombed(row)}
        if not rows:
            return {}
        columns = [CaptureFacts.COLUMN, Withdrawal.COLUMN]
        known = self._rows.get_rows("captures", list(rows), columns=columns)
        facts = read_generations(self._rows, self._entry.archive_file)[self._entry.generation]
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
        generations = read_generations(self._rows, self._entry.archive_file)
        facts = generations.get(self._entry.generation)
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

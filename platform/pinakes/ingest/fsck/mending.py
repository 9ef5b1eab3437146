"""Repairs the sidecar and the rows of one landed file for fsck.

Missing facts are written again as the landing wrote them, with its act time.  What is replaced is
kept (`quarantine`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore, AsideFile
from pinakes.catalog.file_records import iter_sidecar, read_generations, read_rows_anew
from pinakes.catalog.file_rows import FileEntry, Held, put_references_kept
from pinakes.catalog.generation_rows import read_generation_rows
from pinakes.catalog.kept_repairs import RowChange
from pinakes.catalog.row_deletion import RowName
from pinakes.catalog.sidecar import (
    SidecarOf,
    SidecarRow,
    read_sidecar,
)
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import ACCEPTED, FileFacts, GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Put, RowStore

from .accepting import Losses, RecordsBefore, RowsInOrder
from .cell_writing import CellChange, CellWriter
from .proofs import is_of_its_file
from .quarantine import Quarantine, in_batches
from .records import read_accepted
from .rows import WantedRows
from .sidecars import put_sidecar

SIDECAR_ERRORS = (OSError, MalformedRecord, SchemaError)
"""What reading a damaged sidecar raises."""
Claiming = Callable[[FileEntry], AbstractContextManager[Held]]


class Accepted(NamedTuple):
    """How a file is gone on with that is damaged for good.

    `repair` is the id by which it is undone; `losses` are the records that are not there as they
    were.
    """

    repair: str | None
    losses: Losses


class StoredFileMender:
    """Repairs one stored file in its current generation; claims the file for each repair.

    Nothing is written by a sidecar or a file that was not read in this run, and found to be the one
    on record.  Each repair returns the id by which it can be undone (`Quarantine.replace`).
    """

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        claim: Claiming,
        quarantine: Quarantine,
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._claim = claim
        self._quarantine = quarantine
        self._name = entry.stored_name
        self._cells = CellWriter(rows, entry)
        self.has_rebuilt = False
        """Whether the sidecar has been replaced, so that what was read of it is out of date."""

    @cached_property
    def generations(self) -> dict[int, GenerationFacts]:
        """Every generation ever written."""
        return read_generations(self._rows, self._entry.archive_file)

    @cached_property
    def _wanted(self) -> WantedRows:
        return WantedRows(self._rows, self._entry, self._facts, self.generations)

    @cached_property
    def on_record(self) -> FileFacts | GenerationFacts:
        """Size and SHA-256 of the current generation as they were stored."""
        return self.generations.get(self._entry.generation) or self._facts

    @property
    def is_noted(self) -> bool:
        """Whether anything says with which bytes the current generation was stored: of the first,
        the facts of its landing."""
        return self._entry.generation == 1 or self._entry.generation in self.generations

    @property
    def of(self) -> SidecarOf:
        """What the sidecar must describe."""
        return SidecarOf(self._name, self._entry.generation, self.on_record.sha256)

    @cached_property
    def how_bytes_differ(self) -> str | None:
        """How the bytes differ from those on record.  Reads all of them, once."""
        known = self.on_record if self.is_noted else None
        return how_bytes_differ(self._archive, self._name, known)

    @property
    def size_problem(self) -> str | None:
        """How the size differs from the one on record."""
        return how_bytes_differ(self._archive, self._name, self.on_record, quick=True)

    @property
    def is_accepted(self) -> bool:
        """Whether damage of one of its generations was accepted."""
        known = (*self.generations.values(), self.on_record)
        return any(isinstance(one, GenerationFacts) and one.why == ACCEPTED for one in known)

    def is_sound(self) -> bool:
        """Whether bytes and sidecar are those on record, by reading them."""
        try:
            return self.how_bytes_differ is None and self._is_proven
        except (*SIDECAR_ERRORS, InputRefused):
            return False

    @cached_property
    def _is_proven(self) -> bool:
        """Whether the sidecar describes this file."""
        act_time_ms = self._cells.landed_ms()
        return is_of_its_file(self._archive, self._name, self.of, act_time_ms=act_time_ms)

    def _require_sound_bytes(self) -> None:
        if self.how_bytes_differ is not None:
            raise InputRefused(
                f"not mended, since {self.how_bytes_differ}: put it back from a copy",
                file=self._name,
            )

    def rebuild(self, code: str, why: str) -> str | None:
        """Write sidecar and rows of the current generation as its landing or run wrote them.

        Rows found through the old sidecar but not the new one are deleted.

        Raises:
            InputRefused: the bytes are not those on record.
        """
        with self._claim(self._entry) as held:
            self._require_sound_bytes()
            return self._rebuild(held, code, why)

    def accept(self) -> Accepted:
        """Note the bytes as they are now as those on record, and rebuild sidecar and rows by them.

        Rows of records that are lost are deleted.  The bytes stay as they are.

        Raises:
            InputRefused: they are those on record, or there are none.
        """
        with self._claim(self._entry) as held:
            problem = self.how_bytes_differ
            size = self._archive.size(self._name)
            if problem is None or size is None:
                why = "there is nothing to accept: its bytes are as on record"
                raise InputRefused(problem if size is None and problem else why, file=self._name)
            was = self.generations.get(self._entry.generation) or GenerationFacts(
                file=self._name,
                size=self._facts.size,
                sha256=self._facts.sha256,
                why="landed",
                act=self._facts.act,
            )
            sha256 = self._archive.checksum(self._name)
            before = RecordsBefore(self._rows, self._archive, self.of)
            self.on_record = replace(was, size=size, sha256=sha256, why=ACCEPTED)
            losses: list[Losses] = []

            def compare(aside: AsideFile) -> None:
                with aside.open() as file:
                    losses.append(before.losses(read_sidecar(file)))

            repair = self._rebuild(held, ACCEPTED, problem, before, compare)
        return Accepted(repair, losses[-1])

    def _rebuild(
        self,
        held: Held,
        code: str,
        why: str,
        before: RecordsBefore | None = None,
        compare: Callable[[AsideFile], None] = lambda aside: None,
    ) -> str | None:
        before = before or RecordsBefore(self._rows, self._archive, self.of)

        def changes(aside: AsideFile) -> Iterator[RowChange]:
            compare(aside)
            return self._changes_by(aside, before)

        self.has_rebuilt = True
        return put_sidecar(
            self._archive,
            self._quarantine,
            held,
            lambda: self._rows_anew(before),
            self.of,
            entry=self._entry,
            code=code,
            why=why,
            changes=changes,
        )

    def _rows_anew(self, before: RecordsBefore) -> Iterator[SidecarRow]:
        act_time_ms = self._cells.landed_ms()
        is_first = self._entry.generation == 1

        def by_rows() -> Iterator[SidecarRow]:
            return read_generation_rows(
                self._rows,
                self._archive,
                self._entry.archive_file,
                self._name,
                act_time_ms=act_time_ms,
            )

        if self.is_accepted:
            rows = before.rows if before.has_sidecar or is_first else by_rows
            known = RowsInOrder(rows, self._entry.archive_file)
            return read_accepted(self._archive, self._entry, known, act_time_ms=act_time_ms)
        if is_first:
            return read_rows_anew(self._archive, self._name, act_time_ms=act_time_ms)
        return by_rows()

    def _changes_by(self, aside: AsideFile, before: RecordsBefore) -> Iterator[RowChange]:
        """What makes the rows those of a sidecar that was rewritten."""
        stale = self._row_names()
        if self.is_accepted and not before.has_sidecar:
            stale.update(before.row_names())
        with aside.open() as file:
            for batch in in_batches(read_sidecar(file)):
                stale -= set(self._wanted.names_of(batch))
                yield from self._wanted.changes(batch)
        for some in in_batches(sorted(stale)):
            yield from self._wanted.deletions(some)
        if isinstance(self.on_record, GenerationFacts):
            column = numbered_column(GenerationFacts, self._entry.generation)
            key = encode_file_key(self._entry.archive_file)
            cell = CellChange("files", key, column, encode_cell(self.on_record))
            yield from self._cells.changes([cell])

    def _row_names(self) -> set[RowName]:
        """The rows found through the sidecar; empty if it cannot be read."""
        try:
            return set(self._wanted.names_of(iter_sidecar(self._archive, self._name)))
        except (*SIDECAR_ERRORS, InputRefused):
            return set()

    def write_again(self, batch: Sequence[SidecarRow], code: str, why: str) -> str | None:
        """Write the rows of these records again, as they were first written.

        By the sidecar that they were read from, if it is this file's; else by the file.
        """
        with self._claim(self._entry) as held:
            self._require_sound_bytes()
            if not self._is_proven:
                return self._rebuild(held, code, why)
            return self._quarantine.replace(
                code=code,
                file=self._name,
                why=why,
                entry=self._entry,
                changes=self._wanted.changes(batch),
                late_ms=held.claim.act_time_ms,
            )

    def put_right(self, cells: Sequence[CellChange], code: str, why: str) -> str | None:
        """Write these cells of captures, digests and the file itself, or delete them.

        By the bytes of the file, from which these cells were made.
        """
        with self._claim(self._entry) as held:
            self._require_sound_bytes()
            return self._quarantine.replace(
                code=code,
                file=self._name,
                why=why,
                entry=self._entry,
                changes=self._cells.changes(cells),
                late_ms=held.claim.act_time_ms,
            )

    def keep_references(self) -> None:
        """Note that all its revisits have rows by what they refer to."""
        with self._claim(self._entry) as held:
            self._require_proven()
            put_references_kept(self._rows, held, self._facts)

    def pin(self, originals: Sequence[bytes]) -> None:
        """Pin captures that revisits of this file refer to."""
        run = self.generations[self._entry.generation].act
        cell = {Pin.COLUMN: encode_cell(Pin(run=run))}
        with self._claim(self._entry) as held:
            self._require_proven()
            puts = [Put(key, cell, held.claim.act_time_ms) for key in originals]
            self._rows.mutate("captures", puts)

    def _require_proven(self) -> None:
        self._require_sound_bytes()
        if not self._is_proven:
            raise InputRefused("not mended, since the sidecar is of another file", file=self._name)

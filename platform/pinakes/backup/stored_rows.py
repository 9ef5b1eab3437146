"""Makes the rows of one stored file agree with the sidecar of its current generation.

The decisions of a dedupe run are in the sidecar of the generation that it wrote, so the sidecar
shows which marks apply and which originals must be pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_records import iter_sidecar, read_current
from pinakes.catalog.file_rows import FileEntry, Held, read_entry
from pinakes.catalog.generation_rows import is_same_decision, mark_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.errors import InputRefused, PinakesError
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_states import FileState
from pinakes.ingest.fsck.quarantine import Quarantine, in_batches
from pinakes.ingest.fsck.stored import StoredFileCheck
from pinakes.row_store.port import Delete, Put, RowStore

from .findings import SettledFinding

Claiming = Callable[[FileEntry], AbstractContextManager[Held]]
"""Holds a file while it is mended."""


class StoredFileSettling:
    """Settles one stored file; does nothing if it is not stored."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        holding: Claiming,
        quarantine: Quarantine,
        archive_file: str,
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._holding = holding
        self._quarantine = quarantine
        self._name = archive_file
        self.problems: list[PinakesError] = []

    def settle(self, stopped: set[str]) -> Iterator[SettledFinding]:
        """Settle rows, then marks and pins; interrupted runs are added to `stopped`."""
        entry = read_entry(self._rows, self._name)
        if entry.state is not FileState.STORED or entry.facts is None:
            return
        check = StoredFileCheck(
            self._rows, self._archive, entry, entry.facts, self._holding, self._quarantine
        )
        for finding in check.findings(quick=True, full=False, seed=0):
            # References are checked when all marks are settled.
            if finding.mend is not None:
                try:
                    finding.mend()
                except InputRefused as problem:
                    self.problems.append(problem)
                else:
                    yield SettledFinding(code="rows", file=self._name, message=finding.message)
            elif finding.code != "reference":
                self.problems.append(PinakesError(finding.message, file=finding.file))
        stored = entry.stored_name
        if self._archive.size(stored) is None:
            return
        run = self._run_of(entry)
        for batch in in_batches(iter_sidecar(self._archive, stored)):
            captures = [row for row in batch if row.row_key is not None]
            yield from self._settle_marks(captures, run, stopped)
            yield from self._settle_pins(captures, run)

    def _run_of(self, entry: FileEntry) -> str:
        """The act that wrote the current generation."""
        return read_current(self._rows, entry).act

    def _settle_marks(
        self, captures: Sequence[SidecarRow], run: str, stopped: set[str]
    ) -> Iterator[SettledFinding]:
        known = get_captures(self._rows, [row.row_key for row in captures if row.row_key])
        wrong: list[tuple[bytes, DedupeMark | None]] = []
        for row in captures:
            capture = known.get(row.row_key or b"")
            wanted = mark_of(row, run)
            # The mark of what was withdrawn stays in its row, and nowhere else.
            if capture is None or capture.withdrawal is not None:
                continue
            if is_same_decision(capture.dedupe, wanted):
                continue
            if capture.dedupe is not None:
                stopped.add(capture.dedupe.run)
            wrong.append((capture.key, wanted))
        if not wrong:
            return
        with self._holding(read_entry(self._rows, self._name)) as held:
            act_time_ms = held.claim.act_time_ms
            gone = [key for key, mark in wrong if mark is None]
            self._rows.mutate(
                "captures", [Delete(key, act_time_ms, columns=[DedupeMark.COLUMN]) for key in gone]
            )
            self._rows.mutate(
                "captures",
                [
                    Put(key, {DedupeMark.COLUMN: encode_cell(mark)}, act_time_ms)
                    for key, mark in wrong
                    if mark is not None
                ],
            )
        yield SettledFinding(code="mark", file=self._name, message=f"{len(wrong)} marks")

    def _settle_pins(self, captures: Sequence[SidecarRow], run: str) -> Iterator[SettledFinding]:
        originals = {
            key
            for row in captures
            for key in [row.original_key if row.is_replaced else row.row_key]
            if row.copy_number is not None and key is not None
        }
        known = get_captures(self._rows, sorted(originals))
        bare = [capture.key for capture in known.values() if not capture.pinned]
        if not bare:
            return
        with self._holding(read_entry(self._rows, self._name)) as held:
            cell = {Pin.COLUMN: encode_cell(Pin(run=run))}
            self._rows.mutate(
                "captures", [Put(key, cell, held.claim.act_time_ms) for key in sorted(bare)]
            )
        yield SettledFinding(code="pin", file=self._name, message=f"{len(bare)} originals")

"""Empties the quarantine of what is not the last copy of anything."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.acts.actor import Actor
from pinakes.acts.generations import COPY
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.file_rows import FileEntry, read_entry, scan_entries
from pinakes.catalog.kept_repairs import (
    KeptRepair,
    folder_of,
    read_repair,
    record_name,
    rows_name,
)
from pinakes.catalog.sidecar import sidecar_name
from pinakes.hbase_schema.file_cells import ACCEPTED
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.row_store.port import RowStore
from pinakes.warc.source import Source

from .acts import DeadActs
from .mending import StoredFileMender
from .quarantine import Quarantine

_PIECE_BYTES = 1 << 18


class Discarder:
    """Deletes repairs from the quarantine of one pair of stores.  Not for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, actor: Actor) -> None:
        self._rows = rows
        self._archive = archive
        self._quarantine = Quarantine(rows, archive, actor)
        self._acts = DeadActs(rows, archive, actor, self._quarantine)

    def why_kept(self, repair: str) -> str | None:
        """Why a repair stays in the quarantine; None: nothing of it is a last copy.

        Reads the archive file that it is about, or compares what was written aside with all files
        that have landed.

        Raises:
            InputRefused: there is no repair of this id.
            MalformedRecord: its record cannot be read.
        """
        if self._is_unbegun(repair):
            return None
        kept = read_repair(self._archive, repair)
        if kept.archive_file is not None:
            entry = read_entry(self._rows, kept.archive_file)
            return self._why_of_file(kept.code, kept.archive_file, entry)
        if kept.code == "sidecar-alone":
            file = generation_of(kept.file.removesuffix(sidecar_name(""))).archive_file
            return self._why_of_file(kept.code, file, read_entry(self._rows, file))
        if any(self._needs_copy(kept, change.name) for change in kept.files):
            return self._why_of_bytes(repair)
        return None

    def discard(self, repair: str) -> None:
        """Delete a repair, which cannot be undone any more; the record goes last but its folder.

        A kill in between leaves a repair that is discarded by the same call.
        """
        for name in [stored.name for stored in self._archive.list(folder_of(repair))]:
            if name not in (record_name(repair), rows_name(repair)):
                self._archive.delete(name)
        self._archive.delete(record_name(repair))
        self._archive.delete(folder_of(repair))

    def _is_unbegun(self, repair: str) -> bool:
        """Whether it has neither a record nor files: it was killed before it changed anything."""
        names = {stored.name for stored in self._archive.list(folder_of(repair))}
        return names == {rows_name(repair)}

    def _why_of_file(self, code: str, file: str, entry: FileEntry) -> str | None:
        if entry.state is not None and entry.state.is_gone:
            return None
        if entry.state is not FileState.STORED or entry.facts is None:
            return f"{file} has not landed"
        if code == ACCEPTED:
            return f"only this describes the records that {file} has lost"
        mender = StoredFileMender(
            self._rows, self._archive, entry, entry.facts, self._acts.holding, self._quarantine
        )
        return None if mender.is_sound() else f"{file} or its sidecar is damaged: see fsck"

    def _needs_copy(self, kept: KeptRepair, name: str) -> bool:
        """Whether it is what a landing had written; all else aside is made from stored files."""
        if kept.code == "dead-landing":
            return not name.endswith(sidecar_name(""))
        return name.startswith(f"{ASIDE}/") and name.endswith(f".{COPY}")

    def _why_of_bytes(self, repair: str) -> str | None:
        for stored in self._archive.list(folder_of(repair)):
            if stored.name in (record_name(repair), rows_name(repair)) or not stored.size:
                continue
            if not any(self._begins(name, stored.name) for name in self._landed(stored.size)):
                return "no file that has landed begins with these bytes"
        return None

    def _landed(self, size: int) -> Iterator[str]:
        for entry in scan_entries(self._rows):
            if entry.state is FileState.STORED and entry.facts is not None:
                for name in dict.fromkeys((entry.archive_file, entry.stored_name)):
                    if (self._archive.size(name) or 0) >= size:
                        yield name

    def _begins(self, name: str, with_name: str) -> bool:
        """Whether a file begins with all bytes of another."""
        with self._archive.open(name) as file, self._archive.open(with_name) as start:
            whole, first = Source(file, name=name), Source(start, name=with_name)
            return whole.size >= first.size and all(
                bytes(whole.view(offset, size)) == bytes(first.view(offset, size))
                for offset in range(0, first.size, _PIECE_BYTES)
                for size in [min(_PIECE_BYTES, first.size - offset)]
            )

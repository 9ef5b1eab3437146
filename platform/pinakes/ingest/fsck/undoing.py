"""Undoes a repair: puts back what it replaced, where nothing has changed it since.

Undoing is a repair itself, which keeps what it replaces.  It may be repeated after a kill.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.file_rows import read_entry, release_claim
from pinakes.catalog.kept_repairs import (
    FileChange,
    KeptRepair,
    RowChange,
    folder_of,
    read_changes,
    read_repair,
    record_name,
    reversed_change,
    rows_name,
)
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.row_store.port import RowStore

from .quarantine import VERB, Quarantine, in_batches, landing_of


class Undone(NamedTuple):
    """What became of an undoing: the repair that it is itself, and what was left as it is."""

    repair: str | None
    left_rows: int
    left_files: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all was put back."""
        return not self.left_rows and not self.left_files


class Undoer:
    """Undoes repairs of one pair of stores.  Not for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, actor: Actor) -> None:
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._quarantine = Quarantine(rows, archive, actor)

    def undo(self, repair: str) -> Undone:
        """Put back what a repair replaced; what has changed since is left, and counted.

        The record of the repair is deleted when all was put back.

        Raises:
            InputRefused: there is no repair of this id.
            Conflict: another process works on the file, or an act has changed it since.
            DigestMismatch: what was kept is not what it was.
        """
        kept = read_repair(self._archive, repair)
        self._check_kept(kept)
        with self._holding(kept) as late_ms:
            undone = self._put_back(kept, late_ms)
        if undone.is_whole:
            self._archive.delete(record_name(repair))
            self._archive.delete(folder_of(repair))
        return undone

    def _check_kept(self, kept: KeptRepair) -> None:
        """Read all that is to be put back, before anything is changed."""
        sums = {rows_name(kept.id): kept.rows_sha256} if kept.rows else {}
        for change in kept.files:
            name = _place_of(kept, change)
            if change.before is not None and self._archive.size(name) is not None:
                sums[name] = change.before
        for name, sha256 in sums.items():
            if self._quarantine.checksum(name) != sha256:
                raise DigestMismatch("what was kept is damaged: nothing was put back", file=name)

    @contextmanager
    def _holding(self, kept: KeptRepair) -> Iterator[int]:
        """Hold the archive file, if it is one that has landed; yields the time of the act."""
        name = kept.archive_file
        if name is None:
            yield self._actor.now_ms()
            return
        held = self._actor.claim(self._rows, name, act=self._actor.new_act(VERB))
        try:
            entry = read_entry(self._rows, name)
            is_gone = entry.state is not None and entry.state.is_gone
            now = landing_of(entry), entry.generation
            if is_gone or now != (kept.landing, kept.generation):
                raise Conflict(
                    "an act has rewritten or removed the file since: nothing was put back",
                    file=name,
                )
            yield held.claim.act_time_ms
        finally:
            release_claim(self._rows, held)

    def _put_back(self, kept: KeptRepair, late_ms: int) -> Undone:
        left_rows = 0

        def changes() -> Iterator[RowChange]:
            nonlocal left_rows
            for batch in in_batches(self._changes_of(kept)):
                for change, state in self._judged(batch):
                    if state is None:
                        left_rows += 1
                    elif state:
                        yield reversed_change(change)

        moves: list[FileChange] = []
        left_files: list[str] = []
        for change in kept.files:
            applied = self._is_applied(kept, change)
            if applied is None:
                left_files.append(change.name)
            elif applied:
                moves.append(change)
        repair = self._quarantine.replace(
            code="undone",
            file=kept.file,
            why=f"undoes {kept.id}: {kept.code}: {kept.why}",
            entry=read_entry(self._rows, kept.archive_file) if kept.archive_file else None,
            changes=changes(),
            files=[(change.name, change.before) for change in moves if change.after is not None],
            late_ms=late_ms,
            undoes=kept.id,
            back={_place_of(kept, change): change.name for change in moves},
        )
        return Undone(repair, left_rows, tuple(left_files))

    def _changes_of(self, kept: KeptRepair) -> Iterator[RowChange]:
        if kept.rows:
            with self._archive.open(rows_name(kept.id)) as file:
                yield from read_changes(file)

    def _judged(self, batch: list[RowChange]) -> Iterator[tuple[RowChange, bool | None]]:
        """Each change, with whether it is in force; None where the row has changed since."""
        tables = {change.table for change in batch}
        found = {
            table: self._rows.get_rows(
                table,
                [change.key for change in batch if change.table == table],
                columns=sorted({column for change in batch for column in _columns(change, table)}),
            )
            for table in tables
        }
        for change in batch:
            row = found[change.table].get(change.key)
            columns = _columns(change, change.table)
            now = {c: row.value(c) for c in columns} if row is not None else {}
            values = {column: value for column, value in now.items() if value is not None}
            if values == {column: cell.value for column, cell in change.before.items()}:
                yield change, False
            elif values == {column: cell.value for column, cell in change.after.items()}:
                yield change, True
            else:
                yield change, None

    def _is_applied(self, kept: KeptRepair, change: FileChange) -> bool | None:
        """Whether a file was replaced, and is as it was left; None where it has changed since."""
        if change.name.startswith(f"{ASIDE}/"):
            place = _place_of(kept, change)
            is_kept = any(
                stored.name == place or stored.name.startswith(f"{place}/")
                for stored in self._archive.list(folder_of(kept.id))
            )
            is_taken = any(stored.name == change.name for stored in self._archive.list(ASIDE))
            return None if is_kept and is_taken else is_kept
        now = self._quarantine.checksum(change.name)
        is_kept = self._archive.size(_place_of(kept, change)) is not None
        if now == change.before:
            if is_kept:
                self._end_rename(_place_of(kept, change), change.name)
            return False
        if not is_kept:
            return None
        # Without a file of its name: it was killed between the move and what comes instead.
        return True if now in (None, change.after) else None

    def _end_rename(self, kept: str, name: str) -> None:
        """End what was killed while it gave a file its name back; both have the same bytes."""
        try:
            self._archive.rename(kept, name)
        except InputRefused:  # two files, not two names of one
            self._archive.delete(kept)


def _columns(change: RowChange, table: str) -> set[bytes]:
    return change.before.keys() | change.after.keys() if change.table == table else set()


def _place_of(kept: KeptRepair, change: FileChange) -> str:
    return f"{folder_of(kept.id)}/{change.kept}"

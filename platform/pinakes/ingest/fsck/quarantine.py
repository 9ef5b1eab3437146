"""Replaces rows and files so that it can be undone: what was there is kept in the quarantine.

    record and rows on disk ─▶ rows changed ─▶ files moved into the quarantine

A kill in between leaves what fsck finds again; the record that it leaves is undone as far as its
changes were made (docs/fsck.md).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from time import gmtime, strftime
from types import MappingProxyType
from typing import BinaryIO, TypeVar

from pinakes.acts.actor import Actor
from pinakes.acts.generations import KEPT, aside_token
from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.kept_repairs import (
    FileChange,
    KeptRepair,
    RowChange,
    deletions,
    encode_change,
    encode_repair,
    folder_of,
    read_changes,
    record_name,
    rows_name,
)
from pinakes.catalog.row_deletion import RowName
from pinakes.errors import Conflict
from pinakes.row_store.port import Delete, Put, Row, RowStore

T = TypeVar("T")
VERB = "fsck"
_BATCH_ROWS = 1000
_NONE: Mapping[str, str] = MappingProxyType({})


class Quarantine:
    """Replaces rows and files in a pair of stores.  Not for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, actor: Actor) -> None:
        self._rows = rows
        self._archive = archive
        self._actor = actor

    def replace(
        self,
        *,
        code: str,
        file: str,
        why: str,
        entry: FileEntry | None = None,
        changes: Iterable[RowChange] = (),
        files: Sequence[tuple[str, str | None]] = (),
        late_ms: int = 0,
        undoes: str | None = None,
        back: Mapping[str, str] = _NONE,
    ) -> str | None:
        """Make these changes of rows, and move these files away; return the id of the repair.

        `entry` is the archive file whose rows or sidecar these are.  `files` are names with the
        SHA-256 of what will be there instead, by the caller.  Cells that a delete hides are written
        with the time `late_ms`.  None where nothing was replaced: what is only added needs no
        undoing, since it was missing.  Memory: one batch.

        `back` are files of the quarantine that get these names again.  That comes before the rows:
        by a sidecar that is wrong fsck finds the rows that are, but not the other way round.
        """
        repair = self._actor.new_act(VERB)
        token = aside_token(self._actor.new_token(), KEPT)
        moves = [*self._moves(files)]
        with self._archive.create_aside(token) as aside:
            count, replaces = 0, bool(moves)
            digest = hashlib.sha256()
            for change in changes:
                line = encode_change(change)
                aside.file.write(line)
                digest.update(line)
                count += 1
                replaces = replaces or bool(change.before)
            if not replaces:
                self._put_back(back)
                if count:
                    aside.checksum()
                    self._change_rows(aside.open, late_ms)
                return None
            if count:
                aside.publish(rows_name(repair))
        record = KeptRepair(
            id=repair,
            time=strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(self._actor.now_ms() / 1000)),
            code=code,
            file=file,
            why=why,
            archive_file=entry.archive_file if entry is not None else None,
            landing=landing_of(entry),
            generation=entry.generation if entry is not None else 0,
            rows=count,
            rows_sha256=digest.hexdigest(),
            files=tuple(moves),
            undoes=undoes,
        )
        content = io.BytesIO(encode_repair(record))
        publish_copy(self._archive, content, record_name(repair), token=token)
        if back:
            self._move_away(record)
            self._put_back(back)
        if count:
            self._change_rows(lambda: self._archive.open(rows_name(repair)), late_ms)
        if not back:
            self._move_away(record)
        return repair

    def _move_away(self, record: KeptRepair) -> None:
        for change in record.files:
            self._archive.rename(change.name, f"{folder_of(record.id)}/{change.kept}")

    def _put_back(self, back: Mapping[str, str]) -> None:
        for kept, name in back.items():
            self._archive.rename(kept, name)

    def keep(self, name: str, *, code: str, why: str) -> str | None:
        """Move a file away that nothing needs; return the id of the repair."""
        return self.replace(code=code, file=name, why=why, files=[(name, None)])

    def delete_rows(
        self,
        names: Iterable[RowName],
        *,
        code: str,
        file: str,
        why: str,
        entry: FileEntry | None = None,
    ) -> str | None:
        """Delete rows at the times of their cells, but for pins; return the id of the repair."""
        sorted_names = sorted(names)
        changes = (
            change
            for table, of_table in groupby(sorted_names, key=lambda name: name.table)
            for batch in in_batches(name.key for name in of_table)
            for change in deletions(self._rows, table, batch)
        )
        return self.replace(code=code, file=file, why=why, entry=entry, changes=changes)

    def _moves(self, files: Sequence[tuple[str, str | None]]) -> Iterator[FileChange]:
        for number, (name, after) in enumerate(files):
            if name.startswith(f"{ASIDE}/"):
                yield FileChange(name, str(number), None, None)
                continue
            before = self.checksum(name)
            if before is not None and before != after:
                yield FileChange(name, str(number), before, after)

    def checksum(self, name: str) -> str | None:
        """The SHA-256 of a file, read now; None where there is none."""
        return self._archive.checksum(name) if self._archive.size(name) is not None else None

    def _change_rows(self, opened: Callable[[], BinaryIO], late_ms: int) -> None:
        with opened() as file:
            changes = read_changes(file)
            for batch in in_batches(changes):
                for table in sorted({change.table for change in batch}):
                    _change(self._rows, table, [c for c in batch if c.table == table], late_ms)


def landing_of(entry: FileEntry | None) -> str | None:
    """The act by which a file has landed last; None where it never did."""
    return entry.facts.act if entry is not None and entry.facts is not None else None


def in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists that fit one round trip."""
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH_ROWS)):
        yield batch


def _change(store: RowStore, table: str, changes: Sequence[RowChange], late_ms: int) -> None:
    """Change rows of one table.  Three round trips."""
    deletes: list[Delete] = []
    puts: list[Put] = []
    for change in changes:
        gone = {column: change.before[column] for column in change.before.keys() - change.after}
        for time_ms in {_time_of(store, table, c, cell.timestamp_ms) for c, cell in gone.items()}:
            of_time = [
                column
                for column, cell in gone.items()
                if _time_of(store, table, column, cell.timestamp_ms) == time_ms
            ]
            deletes.append(Delete(change.key, time_ms, columns=sorted(of_time)))
        puts += [
            Put(change.key, {column: cell.value}, _time_of(store, table, column, cell.timestamp_ms))
            for column, cell in change.after.items()
        ]
    store.mutate(table, deletes)
    if not puts:
        return
    _put(store, table, puts)
    columns = sorted({column for put in puts for column in put.cells})
    found = store.get_rows(table, sorted({put.row for put in puts}), columns=columns)
    hidden = (put for put in puts if not _is_there(found.get(put.row), put))
    store.mutate(table, [put._replace(timestamp_ms=late_ms) for put in hidden])


def _put(store: RowStore, table: str, puts: Sequence[Put]) -> None:
    """Put what no delete hides."""
    try:
        store.mutate(table, puts)
    except Conflict:
        if len(puts) > 1:
            for put in puts:
                _put(store, table, [put])


def _is_there(row: Row | None, put: Put) -> bool:
    return row is not None and all(
        row.value(column) == value for column, value in put.cells.items()
    )


def _time_of(store: RowStore, table: str, column: bytes, time_ms: int) -> int | None:
    """None for a family of the store's clock."""
    described = store.schema.table(table)
    family = described.family(column.partition(b":")[0].decode()) if described else None
    return time_ms if family is None or family.act_time else None

"""Dropping old generations: an act of its own, after a grace time.

The current generation is read from disk and compared with its checksum first; then the
older files and their sidecars go.  Their facts stay in the catalogue, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import note_dropped, older_names
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import RowStore, get_row

DAY_MS = 86_400_000
_ACT = "drop-old"


class Dropped(NamedTuple):
    """An old generation that is gone (or would be), and its size."""

    name: str
    size: int


def drop_old_generations(
    rows: RowStore,
    archive: ArchiveStore,
    entries: Iterable[FileEntry],
    *,
    now_ms: int,
    wait_until_unpinned: Callable[[], None],
    grace_ms: int = DAY_MS,
    dry_run: bool = False,
) -> Iterator[Dropped]:
    """Delete the generations before the current one, where it is older than the grace time.

    `wait_until_unpinned` returns once no backup needs the bytes to stay.

    Raises:
        DigestMismatch: where a current generation is not what was written; nothing of
            that file is dropped.
    """
    for entry in entries:
        old = [
            (name, size)
            for name in older_names(entry)
            for size in [archive.size(name)]
            if size is not None
        ]
        if not old or not _is_ripe(rows, archive, entry, now_ms - grace_ms):
            continue
        if not dry_run:
            wait_until_unpinned()
            names = [name for name, _ in old]
            note_dropped(rows, entry.archive_file, names, act=_ACT, act_time_ms=now_ms)
        for name, size in old:
            if not dry_run:
                # The file last: where it is still there, this is done again.
                archive.delete(sidecar_name(name))
                archive.delete(name)
            yield Dropped(name, size)


def _is_ripe(rows: RowStore, archive: ArchiveStore, entry: FileEntry, before_ms: int) -> bool:
    column = numbered_column(GenerationFacts, entry.generation)
    row = get_row(rows, FILES, encode_file_key(entry.archive_file), columns=[column])
    cell = row.cells.get(column) if row is not None else None
    if cell is None or cell.timestamp_ms > before_ms:
        return False
    facts = decode_cell(GenerationFacts, cell.value)
    if archive.checksum(facts.file) != facts.sha256:
        raise DigestMismatch(
            "the current generation is not what was written: the old one is kept", file=facts.file
        )
    return True

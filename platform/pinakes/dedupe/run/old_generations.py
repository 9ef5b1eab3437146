"""Dropping old generations: an act of its own, after a grace time.

The current generation is read first, compared with its checksum and with each older one, and so
are the originals of its revisits (`remaining`).  Then the older files and their sidecars go, those
alone that hold nothing else.  Their facts stay in the catalogue, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import note_dropped, older_names, read_generations
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import RowStore, get_row

from .remaining import Lost, Remaining

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
    remaining: Remaining,
    now_ms: int,
    wait_until_unpinned: Callable[[], None],
    grace_ms: int = DAY_MS,
    dry_run: bool = False,
) -> Iterator[Dropped]:
    """Delete the generations before the current one, where it is older than the grace time.

    `remaining` reads what is left without them; `wait_until_unpinned` returns once no backup needs
    the bytes to stay.

    Raises:
        DigestMismatch: where a current generation is not what was written, or does not give back
            what an older one holds; nothing of that file is dropped.
    """
    for entry in entries:
        old = [
            (name, size)
            for name in older_names(entry)
            for size in [archive.size(name)]
            if size is not None
        ]
        if not old or not _is_ripe(rows, entry, now_ms - grace_ms):
            continue
        require_given_back(rows, archive, entry, [name for name, _ in old], remaining)
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


def _is_ripe(rows: RowStore, entry: FileEntry, before_ms: int) -> bool:
    column = numbered_column(GenerationFacts, entry.generation)
    row = get_row(rows, FILES, encode_file_key(entry.archive_file), columns=[column])
    cell = row.cells.get(column) if row is not None else None
    return cell is not None and cell.timestamp_ms <= before_ms


def require_given_back(
    rows: RowStore,
    archive: ArchiveStore,
    entry: FileEntry,
    old: Iterable[str],
    remaining: Remaining,
) -> None:
    """Raise DigestMismatch unless nothing is lost without these generations of a file.

    The current one is what was written, and gives back each whole record of each of them.
    """
    generations = read_generations(rows, entry.archive_file)
    current = entry.stored_name
    facts = generations.get(entry.generation)
    if facts is None or archive.checksum(current) != facts.sha256:
        raise DigestMismatch(
            "the current generation is not what was written: the old one is kept", file=current
        )
    written = {facts.file: facts.sha256 for facts in generations.values()}
    for name in old:
        is_rotten = archive.checksum(name) != written.get(name)
        try:
            lost = list(remaining.lost_without(name, current, is_rotten=is_rotten))
        except (MalformedRecord, InputRefused) as problem:
            raise DigestMismatch(
                f"the old generation is kept: it is not known whether {current} gives it back "
                f"({problem}): `pinakes fsck --full` tells",
                file=name,
            ) from problem
        if lost:
            raise _kept(name, current, lost)


def _kept(name: str, current: str, lost: Sequence[Lost]) -> DigestMismatch:
    first, count = lost[0], len(lost)
    records = "this record" if count == 1 else f"{count:,} records, of which this is the first"
    return DigestMismatch(
        f"the old generation is kept: it alone holds {records} of {current} whole ({first.why}): "
        "`pinakes fsck --full` tells what is damaged",
        file=name,
        offset=first.offset,
    )

"""Dropping old generations: an act of its own, after a grace time.

The current generation is read first, compared with its checksum and with each older one, and so
are the originals of its revisits (`remaining`).  Then the older files and their sidecars go, those
alone that hold nothing else.  Their facts stay in the catalogue, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import note_dropped, older_names, read_generations
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ONE_FILE_ONLY, DigestMismatch, InputRefused, MalformedRecord
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import RowStore, get_row

from .remaining import Lost, Remaining

DAY_MS = 86_400_000
_ACT = "drop-old"
Mend = Callable[[FileEntry, str, Collection[Lost]], None]
"""Puts these records of an old generation into a new one; Raises what is in `ONE_FILE_ONLY`."""


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
    mend: Mend | None = None,
    dry_run: bool = False,
) -> Iterator[Dropped]:
    """Delete the generations before the current one, where it is older than the grace time.

    `remaining` reads what is left without them; `wait_until_unpinned` returns once no backup needs
    the bytes to stay.  `mend` puts what an old generation alone holds into a new one.

    Raises:
        DigestMismatch: where a current generation is not what was written, or does not give back
            what an older one holds; nothing of that file is dropped, also where it was mended.
    """
    for entry in entries:
        old = [
            (name, size)
            for name in older_names(entry)
            for size in [archive.size(name)]
            if size is not None
        ]
        if not old or not _is_ripe(rows, entry, now_ms, grace_ms):
            continue
        names = [name for name, _ in old]
        require_given_back(rows, archive, entry, names, remaining, None if dry_run else mend)
        if not dry_run:
            wait_until_unpinned()
            note_dropped(rows, entry.archive_file, names, act=_ACT, act_time_ms=now_ms)
        for name, size in old:
            if not dry_run:
                # The file last: where it is still there, this is done again.
                archive.delete(sidecar_name(name))
                archive.delete(name)
            yield Dropped(name, size)


def _is_ripe(rows: RowStore, entry: FileEntry, now_ms: int, grace_ms: int) -> bool:
    column = numbered_column(GenerationFacts, entry.generation)
    row = get_row(rows, FILES, encode_file_key(entry.archive_file), columns=[column])
    cell = row.cells.get(column) if row is not None else None
    if cell is None:
        raise DigestMismatch(
            "nothing says when this generation became current, so the old ones are kept: see "
            "`pinakes fsck`",
            file=entry.stored_name,
        )
    # Written just now by a clock that is ahead of this one, it is written now.
    return min(cell.timestamp_ms, now_ms) <= now_ms - grace_ms


def require_given_back(
    rows: RowStore,
    archive: ArchiveStore,
    entry: FileEntry,
    old: Iterable[str],
    remaining: Remaining,
    mend: Mend | None = None,
) -> None:
    """Raise DigestMismatch unless nothing is lost without these generations of a file.

    The current one is what was written, and gives back each whole record of each of them.
    """
    generations = read_generations(rows, entry.archive_file)
    current = entry.stored_name
    written = {facts.file: facts.sha256 for facts in generations.values()}
    kept: DigestMismatch | None = None
    for name in old:
        if archive.size(name) is None:
            continue  # an act that ended before deleted it, and not yet its sidecar
        is_rotten = archive.checksum(name) != written.get(name)
        try:
            lost = list(remaining.lost_without(name, current, is_rotten=is_rotten))
        except (MalformedRecord, InputRefused) as problem:
            kept = kept or DigestMismatch(
                f"the old generation is kept: it is not known whether {current} gives it back "
                f"({problem}): `pinakes fsck --full` tells",
                file=name,
            )
            continue
        if lost and mend is not None and not is_rotten:
            try:
                mend(entry, name, lost)
            except ONE_FILE_ONLY as problem:
                kept = kept or _kept(name, current, lost, f"; {problem}")
                continue
            raise _mended(name, current, lost)
        if lost:
            kept = kept or _kept(name, current, lost)
    if kept is not None:
        raise kept
    if archive.checksum(current) != written.get(current):
        raise DigestMismatch(
            "the current generation is not what was written: the old one is kept", file=current
        )


def _kept(name: str, current: str, lost: Sequence[Lost], why: str = "") -> DigestMismatch:
    return DigestMismatch(
        f"the old generation is kept: it alone holds {_records(lost)} of {current} whole "
        f"({lost[0].why}{why}): `pinakes fsck --full` tells what is damaged",
        file=name,
        offset=lost[0].offset,
    )


def _mended(name: str, current: str, lost: Sequence[Lost]) -> DigestMismatch:
    return DigestMismatch(
        f"the old generation alone held {_records(lost)} of {current} whole ({lost[0].why}): a new "
        "generation has them now, and the old one is kept for the grace time; `pinakes fsck "
        "--full` tells what is damaged",
        file=name,
        offset=lost[0].offset,
    )


def _records(lost: Sequence[Lost]) -> str:
    return "this record" if len(lost) == 1 else f"{len(lost):,} records, this one the first,"

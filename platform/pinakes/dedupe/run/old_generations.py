"""Dropping old generations: an act of its own, after a grace time.

The current generation is read first, compared with its checksum and with each older one, and so
are the originals of its revisits (`remaining`).  Then the older files and their sidecars go, those
alone that hold nothing else.  Their facts stay in the catalogue, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import note_dropped, older_names, read_generations
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import (
    ONE_FILE_ONLY,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import RowStore, get_row

from .remaining import Lost, Remaining

_ACT = "drop-old"
Mend = Callable[[FileEntry, str, Sequence[Lost]], None]
"""Puts these records of an old generation into a new one; Raises what is in `ONE_FILE_ONLY`."""


class DroppedGeneration(NamedTuple):
    """An old generation that is gone (or would be), and its size."""

    name: str
    size: int


class OldGeneration(NamedTuple):
    """A generation that was replaced, its size, and since when; None: that is not known."""

    name: str
    archive_file: str
    size: int
    replaced_ms: int | None


Drop = Callable[[Iterable[FileEntry]], Iterable[object]]
"""Drops the old generations of these files, where the grace time allows."""


def drop_each(drop: Drop, entries: Iterable[FileEntry]) -> Iterator[PinakesError]:
    """Drop file by file; yield why one could not be: the others are dropped all the same."""
    for entry in entries:
        try:
            for _ in drop([entry]):
                """Each has the place where `drop` was made."""
        except ONE_FILE_ONLY as problem:
            yield problem


@dataclass(frozen=True, slots=True, kw_only=True)
class OldGenerations:
    """Old generations of a pair of stores that may go, once they are replaced for `grace_ms`.

    `on_dropped` is called with each.
    """

    rows: RowStore
    archive: ArchiveStore
    actor: Actor
    grace_ms: int
    on_dropped: Callable[[DroppedGeneration], None] = lambda dropped: None

    def listed(self, entries: Iterable[FileEntry]) -> Iterator[OldGeneration]:
        """Those of these files that are there, whatever their age."""
        for entry in entries:
            since_ms = self._replaced_ms(entry) if entry.generation > 1 else None
            for name in older_names(entry):
                size = self.archive.size(name)
                if size is not None:
                    yield OldGeneration(name, entry.archive_file, size, since_ms)

    def drop(
        self,
        remaining: Remaining,
        entries: Iterable[FileEntry],
        *,
        mend: Mend | None = None,
        dry_run: bool = False,
    ) -> Iterator[DroppedGeneration]:
        """Delete the generations before the current one, where it is older than the grace time.

        `remaining` reads what is left without them.  `mend` puts what an old generation alone
        holds into a new one.  Waits while a backup needs the bytes to stay.

        Raises:
            DigestMismatch: where a current generation is not what was written, or does not give
                back what an older one holds; nothing of that file is dropped, also where it was
                mended.
        """
        rows, archive, now_ms = self.rows, self.archive, self.actor.now_ms()
        for entry in entries:
            sizes = {name: archive.size(name) for name in older_names(entry)}
            old = [
                DroppedGeneration(name, size) for name, size in sizes.items() if size is not None
            ]
            if not old or not self._is_ripe(entry, now_ms):
                continue
            names = [dropped.name for dropped in old]
            require_given_back(rows, archive, entry, names, remaining, None if dry_run else mend)
            if not dry_run:
                self.actor.wait_until_unpinned(rows)
                note_dropped(rows, entry.archive_file, names, act=_ACT, act_time_ms=now_ms)
            for dropped in old:
                if not dry_run:
                    # The file last: where it is still there, this is done again.
                    archive.delete(sidecar_name(dropped.name))
                    archive.delete(dropped.name)
                self.on_dropped(dropped)
                yield dropped

    def _replaced_ms(self, entry: FileEntry) -> int | None:
        """When the current generation was written; None: nothing says it."""
        column = numbered_column(GenerationFacts, entry.generation)
        row = get_row(self.rows, FILES, encode_file_key(entry.archive_file), columns=[column])
        cell = row.cells.get(column) if row is not None else None
        return cell.timestamp_ms if cell is not None else None

    def _is_ripe(self, entry: FileEntry, now_ms: int) -> bool:
        replaced_ms = self._replaced_ms(entry)
        if replaced_ms is None:
            raise DigestMismatch(
                "nothing says when this generation became current, so the old ones are kept: see "
                "`pinakes fsck`",
                file=entry.stored_name,
            )
        # Written just now by a clock that is ahead of this one, it is written now.
        return min(replaced_ms, now_ms) <= now_ms - self.grace_ms


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
                f"({problem}): see `pinakes fsck --full`",
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
            "the current generation is not what was written, though it lacks nothing of the old "
            "one, which is kept: put it back from a copy, or go on with it by `pinakes fsck "
            "--accept`",
            file=current,
        )


def _kept(name: str, current: str, lost: Sequence[Lost], why: str = "") -> DigestMismatch:
    return DigestMismatch(
        f"the old generation is kept: it alone holds {_records(lost)} of {current} whole "
        f"({lost[0].why}{why}): `pinakes fsck --full` lists what is damaged",
        file=name,
        offset=lost[0].offset,
    )


def _mended(name: str, current: str, lost: Sequence[Lost]) -> DigestMismatch:
    return DigestMismatch(
        f"the old generation alone held {_records(lost)} of {current} whole ({lost[0].why}): a new "
        "generation has them now, and the old one is kept for the grace time; `pinakes fsck "
        "--full` lists what is damaged",
        file=name,
        offset=lost[0].offset,
    )


def _records(lost: Sequence[Lost]) -> str:
    return "this record" if len(lost) == 1 else f"{len(lost):,} records, this one the first,"

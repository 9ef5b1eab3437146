"""What acts that died were writing aside, and that it may go.

It was made of the file as it was then, and of originals of its revisits.  If one of these has
rotted since, what was written aside may be the last whole copy of a body: so they are read before
it is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.captures import get_captures, place_captures
from pinakes.catalog.file_records import iter_sidecar, name_of, read_generations
from pinakes.catalog.file_rows import FileEntry, Held, leave_claim, read_entries, read_entry
from pinakes.catalog.payloads import UNSOUND, open_body
from pinakes.catalog.revisit_targets import FULL
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import ONE_FILE_ONLY, DigestMismatch, PinakesError, UnresolvedReference
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.row_store.port import RowStore

from .generations import COPY, REWRITTEN, SIDECAR, aside_token

_BATCH_ROWS = 500


def dead_asides(held: Held) -> list[str]:
    """The names that acts that died holding this file's claim may have been writing."""
    return [
        f"{ASIDE}/{aside_token(token, part)}"
        for token in held.claim.dead
        for part in (COPY, REWRITTEN, SIDECAR)
    ]


def clear_dead_asides(rows: RowStore, archive: ArchiveStore, held: Held) -> Held:
    """Delete what acts that died holding this file's claim were writing.

    The claim that is returned names them no longer, and so the stored one once it is renewed or
    released.  Where a generation was being written, what the file holds is read first.

    Raises:
        DigestMismatch: the file is not what was stored, or an original of its revisits is damaged,
            and no older generation has that.  What was being written stays, and the claim is left.
    """
    generations = {f"{ASIDE}/{aside_token(token, REWRITTEN)}" for token in held.claim.dead}
    if generations and any(one.name in generations for one in archive.list(ASIDE)):
        try:
            entry = read_entry(rows, held.archive_file)
            _require_whole(rows, archive, entry, "a process that died was writing")
        except PinakesError:
            leave_claim(rows, held)
            raise
    for name in dead_asides(held):
        archive.delete(name)
    return replace(held, claim=replace(held.claim, dead=()))


def clear_task_folder(rows: RowStore, archive: ArchiveStore, act: str) -> Iterator[PinakesError]:
    """Delete what tasks of an act have written, and it has not taken; draw all.

    What the store has of each file is read first, as for `clear_dead_asides`; why not, where it is
    damaged: then nothing is deleted.
    """
    folder = f"{ASIDE}/{act}"
    asked: set[str] = set()
    is_damaged = False
    for stored in archive.list(folder):
        for entry in _entries_named(rows, stored.name.removeprefix(f"{folder}/")):
            if entry.archive_file in asked:
                continue
            asked.add(entry.archive_file)
            try:
                _require_whole(rows, archive, entry, "tasks have written")
            except ONE_FILE_ONLY as problem:
                is_damaged = True
                yield problem
    if not is_damaged:
        archive.delete(folder)


def _entries_named(rows: RowStore, path: str) -> Iterator[FileEntry]:
    """The files of the store whose next generation may be at this path."""
    parts = path.split("/")
    ends = ("/".join(parts[start:]) for start in range(1, len(parts)))
    names = [generation_of(end).archive_file for end in ends]
    found = read_entries(rows, names).values()
    return (entry for entry in found if entry.state is not None)


def _require_whole(rows: RowStore, archive: ArchiveStore, entry: FileEntry, aside: str) -> None:
    """Raise DigestMismatch unless a file is what was stored, and its revisits give their bodies, or
    an older generation has them; `aside` says what stays then."""
    if entry.state is not FileState.STORED:
        return
    generations = read_generations(rows, entry.archive_file)
    lost = dict(_damaged_originals(rows, archive, entry))
    problem = how_bytes_differ(archive, entry.stored_name, generations.get(entry.generation))
    if problem is not None:
        lost |= dict.fromkeys(_full_records(archive, entry.stored_name), problem)
    if lost:
        for older in _whole_older(archive, entry, generations):
            for record_id in _full_records(archive, older):
                lost.pop(record_id, None)
    for why in lost.values():
        raise DigestMismatch(
            f"{why}: what {aside} in its place may be the last whole copy, and stays below "
            f"{ASIDE}; `pinakes fsck --repair` moves it into the quarantine",
            file=entry.stored_name,
        )


def _full_records(archive: ArchiveStore, name: str) -> Iterator[str | None]:
    """The ids of the records that a stored file has in full, by its sidecar."""
    for row in iter_sidecar(archive, name):
        if row.type in FULL and not row.is_replaced:
            yield row.record_id


def _whole_older(
    archive: ArchiveStore, entry: FileEntry, generations: Mapping[int, GenerationFacts]
) -> Iterator[str]:
    """The older generations that are there, as they were written."""
    for number in range(1, entry.generation):
        name = name_of(entry, generations, number)
        is_there = all(archive.size(one) is not None for one in (name, sidecar_name(name)))
        if is_there and how_bytes_differ(archive, name, generations.get(number)) is None:
            yield name


def _damaged_originals(
    rows: RowStore, archive: ArchiveStore, entry: FileEntry
) -> Iterator[tuple[str | None, str]]:
    """Yield the record id of each revisit of ours whose original is damaged, and a message."""
    revisits = (
        row
        for row in iter_sidecar(archive, entry.stored_name)
        if row.is_replaced and row.ordinal not in entry.withdrawing
    )
    while batch := list(islice(revisits, _BATCH_ROWS)):
        keys = {key for row in batch for key in (row.row_key, row.original_key) if key}
        captures = get_captures(rows, sorted(keys))
        ids = {
            row.row_key: row.record_id
            for row in batch
            if row.row_key in captures and row.original_key in captures
            if captures[row.row_key].withdrawal is None
            if captures[row.original_key].withdrawal is None
        }
        for placed in place_captures(rows, [captures[key] for key in ids]):
            key = placed.capture.key
            try:
                with suppress(UnresolvedReference), open_body(rows, archive, placed):
                    pass
            except UNSOUND:
                yield ids[key], f"the original of {key.decode('ascii')} is damaged"

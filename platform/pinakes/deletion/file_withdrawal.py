"""One file of a take-down: a generation with tombstones, then every other that holds the bytes
is deleted."""

from __future__ import annotations

from collections.abc import Container

from pinakes.acts.act import Act
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_counts import put_withdrawn_counts
from pinakes.catalog.file_records import (
    iter_sidecar,
    note_dropped,
    read_generations,
    stored_names,
)
from pinakes.catalog.file_rows import (
    Held,
    read_entry,
    require_claim,
    set_withdrawing,
)
from pinakes.catalog.record_rows import digest_rows
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.withdrawals import as_tombstone_row, is_tombstone_row
from pinakes.dedupe.run.old_generations import require_given_back
from pinakes.dedupe.run.remaining import Remaining
from pinakes.row_store.port import Delete, RowStore
from pinakes.warc.record import Record
from pinakes.warc.tombstone import Inscription

from .changed_rows import has_changed
from .tombstones import Tombstones

VERB = "withdraw"


def holding_files(
    rows: RowStore, archive: ArchiveStore, archive_file: str, ordinals: Container[int]
) -> list[str]:
    """The stored files of an archive file, of any generation, that hold records of these."""
    entry = read_entry(rows, archive_file)
    names = stored_names(entry, read_generations(rows, archive_file))
    return [name for name in names if _holds(archive, name, ordinals)]


def referring_files(
    rows: RowStore, archive: ArchiveStore, archive_file: str, originals: Container[bytes]
) -> list[str]:
    """The stored files of an archive file, of any generation, in which revisits of ours refer to
    these originals, by row key; also those of which landed revisits were changed since."""
    entry = read_entry(rows, archive_file)
    names = stored_names(entry, read_generations(rows, archive_file))
    return [
        name
        for name in names
        if archive.size(sidecar_name(name)) is not None
        and (
            has_changed(archive, name, entry.stored_name)
            or any(
                row.is_replaced and row.original_key in originals
                for row in iter_sidecar(archive, name)
            )
        )
    ]


def _holds(archive: ArchiveStore, name: str, ordinals: Container[int]) -> bool:
    if archive.size(sidecar_name(name)) is None:
        return archive.size(name) is not None
    rows = iter_sidecar(archive, name)
    return any(row.ordinal in ordinals and not is_tombstone_row(row) for row in rows)


class FileWithdrawer:
    """Withdraws records of files, one after the other.  Not for several threads."""

    def __init__(self, act: Act, inscription: Inscription) -> None:
        self._act = act
        self._rows = act.rows
        self._archive = act.archive
        self._inscription = inscription
        self._remaining = Remaining(act.rows, act.archive)

    def withdraw(self, archive_file: str, ordinals: set[int]) -> int:
        """Put tombstones for these records of a file; how many.

        May be repeated: those that are replaced stay as they are.

        Raises:
            Conflict: another process works on the file.
            DigestMismatch, MalformedRecord: it cannot be rewritten; it is as it was.
        """
        with self._act.claimed(archive_file) as held:
            count = self._put_tombstones(held, ordinals)
            holding = holding_files(self._rows, self._archive, archive_file, ordinals)
            self._delete_references(held, holding, ordinals)
            drop_generations(self._act, held, holding, self._remaining)
            self._forget(held, ordinals)
        self._act.at("file done")
        return count

    def _forget(self, held: Held, ordinals: set[int]) -> None:
        """These records are gone: nothing has to look for them any more."""
        entry = read_entry(self._rows, held.archive_file)
        if entry.facts is not None and entry.withdrawing:
            set_withdrawing(self._rows, held, entry.facts, entry.withdrawing - ordinals)
            self._act.at("records forgotten")

    def _delete_references(self, held: Held, holding: list[str], ordinals: set[int]) -> None:
        """Delete the rows by which crawlers' revisits were found from what they referred to: the
        sidecar does not list them any more.

        A generation without its sidecar is an older one, and the one that was current had the same.
        """
        entry = read_entry(self._rows, held.archive_file)
        with_sidecar = (
            name for name in holding if self._archive.size(sidecar_name(name)) is not None
        )
        rows = (row for name in with_sidecar for row in iter_sidecar(self._archive, name))
        keys = {
            key
            for row in rows
            if row.ordinal in ordinals and row.type == "revisit" and entry.facts is not None
            for key, _ in digest_rows(row, held.archive_file, entry.facts.collection)
        }
        act_time_ms = held.claim.act_time_ms
        self._rows.mutate("digests", [Delete(key, act_time_ms) for key in sorted(keys)])

    def _put_tombstones(self, held: Held, ordinals: set[int]) -> int:
        old = read_entry(self._rows, held.archive_file).current
        if not _holds(self._archive, old.name, ordinals):
            return 0
        there = {
            row.ordinal for row in iter_sidecar(self._archive, old.name) if is_tombstone_row(row)
        }
        tombstones = Tombstones(frozenset(ordinals - there), self._inscription)

        def annotate(row: SidecarRow, record: Record) -> SidecarRow:
            if row.ordinal not in tombstones.ordinals:
                return row
            return as_tombstone_row(row)._replace(content_length=record.content_length)

        def note() -> None:
            put_withdrawn_counts(self._rows, held, verb=VERB, records=len(tombstones.ordinals))

        self._act.rewrite(
            held,
            lambda: (tombstones.replacements, tombstones.check),
            annotate=annotate,
            note=note,
        )
        return len(tombstones.ordinals)

    def drop_referring(self, archive_file: str, originals: Container[bytes]) -> None:
        """Delete the old generations of a file that refer to originals which are gone.

        Raises as `withdraw`.
        """
        names = referring_files(self._rows, self._archive, archive_file, originals)
        if not names:
            return
        with self._act.claimed(archive_file) as held:
            drop_generations(self._act, held, names, self._remaining)


def drop_generations(act: Act, held: Held, names: list[str], remaining: Remaining) -> None:
    """Delete these generations but the current one, once nothing is lost without them but what was
    withdrawn.

    Raises:
        DigestMismatch: the current one is not what was written, or what they hold whole is not in
            it, or in the originals of its revisits.
    """
    rows, archive, name = act.rows, act.archive, held.archive_file
    entry = read_entry(rows, name)
    current = entry.stored_name
    old = [stored for stored in names if stored != current]
    if not old:
        return
    require_given_back(rows, archive, entry, old, remaining)
    act.wait_until_unpinned()
    require_claim(rows, held)
    note_dropped(rows, name, old, act=held.claim.act, act_time_ms=held.claim.act_time_ms)
    for stored in old:
        # The sidecar last: by it this is known to be not done.
        archive.delete(stored)
        act.at("bytes deleted")
        archive.delete(sidecar_name(stored))
        act.at("sidecar deleted")

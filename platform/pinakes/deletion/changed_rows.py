"""Rows of revisits that landed as such, and were changed: full, or with another reference.

Written after the generation, by the sidecars of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from pinakes.acts.act import Act
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_records import iter_sidecar, name_of, read_current, read_generations
from pinakes.catalog.file_rows import FileEntry, Held, release_claim
from pinakes.catalog.record_rows import capture_cells, digest_rows
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import DigestMismatch
from pinakes.row_store.port import Delete, Put, RowStore


def settle_left(act: Act, *, release: bool) -> None:
    """Complete what an act of this verb left of files that it had moved when it died or failed.

    With `release` what it had not moved is taken back, too, and nothing is claimed any more.
    """
    entries = Collection(act.rows, act.archive, act.collection).entries
    for name, entry in sorted(entries.items()):
        if not entry.is_claimed_by(act.verb):
            continue
        held = act.claim(name)
        if read_current(act.rows, entry).act == held.claim.act:
            put_changed_rows(act.rows, act.archive, held, entry)
        if release:
            act.take_back(held)
            release_claim(act.rows, held)
        act.at("settled")


def put_changed_rows(rows: RowStore, archive: ArchiveStore, held: Held, entry: FileEntry) -> None:
    """Make the rows of a file say what its crawlers' revisits are since its last generation.

    By the sidecars of both; may be repeated.  Memory: what was changed.
    """
    if entry.generation == 1 or entry.facts is None:
        return
    new_name, number = entry.stored_name, entry.generation - 1
    old_name = name_of(entry, read_generations(rows, entry.archive_file), number)
    if any(archive.size(sidecar_name(name)) is None for name in (old_name, new_name)):
        return
    changed = list(_changed_rows(archive, old_name, new_name))
    collection, act_time_ms = entry.facts.collection, held.claim.act_time_ms
    known = get_captures(rows, [new.row_key for _, new in changed if new.row_key])
    captures, stale = [], set()
    digests: dict[bytes, dict[bytes, bytes]] = {}
    for old, new in changed:
        first = known[new.row_key or b""].locations.get(1) if new.row_key in known else None
        landed = new
        if first is not None:
            landed = new._replace(
                offset=first.offset, length=first.length, inner_offset=first.inner_offset
            )
        cells = capture_cells(
            landed,
            entry.archive_file,
            generation=1 if first is not None else entry.generation,
        )
        captures.append(Put(new.row_key or b"", cells, act_time_ms))
        digests |= dict(digest_rows(new, entry.archive_file, collection))
        stale |= {key for key, _ in digest_rows(old, entry.archive_file, collection)}
    rows.mutate("captures", captures)
    rows.mutate("digests", [Put(key, cells, act_time_ms) for key, cells in digests.items()])
    gone = sorted(stale - digests.keys())
    rows.mutate("digests", [Delete(key, act_time_ms) for key in gone])


def has_changed(archive: ArchiveStore, old_name: str, new_name: str) -> bool:
    """Whether revisits of crawlers were changed between two generations."""
    return next(_changed_rows(archive, old_name, new_name), None) is not None


def _changed_rows(
    archive: ArchiveStore, old_name: str, new_name: str
) -> Iterator[tuple[SidecarRow, SidecarRow]]:
    for old, new in zip_longest(
        iter_sidecar(archive, old_name), iter_sidecar(archive, new_name), fillvalue=None
    ):
        if old is None or new is None:
            raise DigestMismatch(
                f"its sidecar does not have the records of that of {old_name}: see `pinakes fsck`",
                file=new_name,
            )
        if _was_changed(old, new):
            yield old, new


def _was_changed(old: SidecarRow, new: SidecarRow) -> bool:
    """Whether a crawler's revisit became another one, or full; no tombstone."""
    if old.type != "revisit" or new.row_key is None or new.skip == "withdrawn":
        return False
    return (old.type, old.refers_uri, old.refers_date, old.refers_id, old.declared) != (
        new.type,
        new.refers_uri,
        new.refers_date,
        new.refers_id,
        new.declared,
    )

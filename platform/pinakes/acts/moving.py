"""A published generation made current, or taken back.

    published, sidecar first ─▶ locations written ahead ─▶ one check-and-put moves all its records

The old generation is kept, and a check-and-put moves back to it.  After a kill at any point, the
same call completes the work.  The holder of the claim can also take it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import (
    iter_sidecar,
    possible_names,
    read_current,
)
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import Held, read_entry, require_claim
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.leftovers import require_nothing_more
from pinakes.catalog.record_rows import location_of
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import Conflict
from pinakes.hbase_schema.capture_cells import DedupeMark, Location
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import CurrentGeneration, GenerationFacts
from pinakes.hbase_schema.generation_names import Generation
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Delete, Put, RowStore, get_row

from .generations import At, MarksOf, Written, refuse_other_file

_BATCH_ROWS = 4000


def publish_taken(
    rows: RowStore,
    archive: ArchiveStore,
    written: Written,
    *,
    token: str,
    folder: str,
    sidecar_sha256: str,
    at: At,
) -> None:
    """Publish a generation that a task wrote in `folder` of the folder aside of `token`, its
    sidecar first.  It may be called again.

    A file of its name that has a sidecar was left by an act that ended before it was current.

    Raises:
        DigestMismatch: another file has the name of the new one, which no act has written.
    """
    sidecar = sidecar_name(written.name)
    there = archive.size(written.name) is not None
    if there and archive.checksum(written.name) != written.sha256:
        if archive.size(sidecar) is None:
            refuse_other_file(written.name)
        require_nothing_more(rows, archive, written.name, written.old_name, act=token)
    for name, sha256 in ((sidecar, sidecar_sha256), (written.name, written.sha256)):
        if archive.size(name) is not None and archive.checksum(name) != sha256:
            archive.delete(name)
        if archive.size(name) is None:
            archive.publish_from(token, f"{folder}/{name}", name)
        at("sidecar published" if name == sidecar else "published")


def move_to_generation(
    store: RowStore,
    archive: ArchiveStore,
    held: Held,
    written: Written,
    *,
    why: str,
    marks: MarksOf,
    at: At,
) -> None:
    """Make a published generation current: rows ahead, then all its records at once.

    `marks(row)` are the cells with the decision about a record.

    Raises:
        Conflict: if the claim was lost, or another act has moved the file.
    """
    name = written.name
    act_time_ms = held.claim.act_time_ms
    column = numbered_column(Location, written.generation)

    def put_cells(cells_of: MarksOf) -> None:
        rows = iter_sidecar(archive, name)
        cells = ((row.row_key, cells_of(row)) for row in rows if row.row_key is not None)
        puts = (Put(key, of_row, act_time_ms) for key, of_row in cells if of_row)
        while batch := list(islice(puts, _BATCH_ROWS)):
            store.mutate("captures", batch)

    put_cells(lambda row: {column: encode_cell(location_of(row, written.ending))})
    at("locations")
    put_cells(marks)
    _put_facts(store, held, written, why)
    at("marked")
    require_claim(store, held)
    _delete_others(store, archive, held, written)
    make_current(store, held, written)
    at("moved")


def _delete_others(store: RowStore, archive: ArchiveStore, held: Held, written: Written) -> None:
    """Delete what an act that died before it was current has left of the same generation, in
    another compression: by nothing but its name is it known."""
    for name in possible_names(written.archive_file, written.generation):
        if name != written.name and archive.size(sidecar_name(name)) is not None:
            require_nothing_more(store, archive, name, written.old_name, act=held.claim.act)
            archive.delete(name)
            archive.delete(sidecar_name(name))


def _put_facts(store: RowStore, held: Held, written: Written, why: str) -> None:
    facts = GenerationFacts(
        file=written.name,
        size=written.size,
        sha256=written.sha256,
        why=why,
        act=held.claim.act,
        dropped="",
    )
    column = numbered_column(GenerationFacts, written.generation)
    key = encode_file_key(written.archive_file)
    store.mutate(FILES, [Put(key, {column: encode_cell(facts)}, held.claim.act_time_ms)])


def make_current(store: RowStore, held: Held, written: Written) -> None:
    """Move all records of a file from the generation before to this one at once.

    Raises:
        Conflict: if the current generation is neither of them.
    """
    key = encode_file_key(held.archive_file)
    row = get_row(store, FILES, key, columns=[CurrentGeneration.COLUMN])
    before = row.value(CurrentGeneration.COLUMN) if row is not None else None
    new = CurrentGeneration(
        generation=written.generation, act=held.claim.act, ending=written.ending
    )
    value = encode_cell(new)
    if before == value:
        return
    old = decode_cell(CurrentGeneration, before) if before is not None else None
    if old is None or (old.generation, old.ending) != (
        written.generation - 1,
        written.old_ending,
    ):
        raise Conflict("another act has moved this file's records", file=held.archive_file)
    if not store.check_and_put(FILES, key, CurrentGeneration.COLUMN, expected=before, value=value):
        raise Conflict("another act has moved this file's records", file=held.archive_file)


def take_back_generation(store: RowStore, archive: ArchiveStore, held: Held) -> None:
    """Delete what an act has left of a generation that it did not make current.

    The marks that were written ahead say again what the records are.
    """
    entry = read_entry(store, held.archive_file)
    for name in possible_names(entry.archive_file, entry.generation + 1):
        if archive.size(sidecar_name(name)) is not None:
            run = read_current(store, entry).act
            _take_back(store, archive, held, entry.current, name, run)


def _take_back(
    store: RowStore, archive: ArchiveStore, held: Held, old: Generation, name: str, run: str
) -> None:
    both = zip(iter_sidecar(archive, old.name), iter_sidecar(archive, name), strict=True)
    act_time_ms, column = held.claim.act_time_ms, DedupeMark.COLUMN
    changes: Iterator[Put | Delete] = (
        Put(now.row_key, {column: encode_cell(mark)}, act_time_ms)
        if (mark := mark_of(now, run)) is not None
        else Delete(now.row_key, act_time_ms, columns=(column,))
        for now, then in both
        if now.row_key is not None and mark_of(now, run) != mark_of(then, run)
    )
    while batch := list(islice(changes, _BATCH_ROWS)):
        store.mutate("captures", batch)
    require_claim(store, held)
    require_nothing_more(store, archive, name, old.name, act=held.claim.act)
    # The sidecar last: by it this is known to be not done.
    archive.delete(name)
    archive.delete(sidecar_name(name))

"""A new generation of a landed file: written aside, read back, checked, then current.

    copy with replacements ─▶ on disk ─▶ compared with the old ─▶ published, sidecar first
        ─▶ locations written ahead ─▶ one check-and-put moves all its records at once

It is in the compression of the old one, unless all of it is written in another form.  An old one
that is not what was stored stays as it is: the checksum of a new one would cover the damage.  The
old generation is kept, and a check-and-put moves back to it.  After a kill at any point,
the same call completes the work: a file published before is compared with what is written, and
replaced by it where the two differ.  Whoever holds the claim can also take it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.catalog.file_records import (
    iter_sidecar,
    possible_names,
    read_current,
    require_as_stored,
)
from pinakes.catalog.file_rows import TABLE as FILES
from pinakes.catalog.file_rows import Held, read_entry, require_claim
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.leftovers import require_nothing_more
from pinakes.catalog.record_rows import location_of
from pinakes.catalog.sidecar import SidecarOf, SidecarRow, sidecar_name, write_sidecar
from pinakes.errors import Conflict, DigestMismatch
from pinakes.hbase_schema.capture_cells import DedupeMark, Location
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import CurrentGeneration, GenerationFacts
from pinakes.hbase_schema.generation_names import (
    Generation,
    ending_in,
    generation_file,
)
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.rewrite.replace import Replacement, copy_file_with_replacements, write_pieces
from pinakes.row_store.port import Delete, Put, RowStore, get_row
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .asides import REWRITTEN, SIDECAR, aside_token, publish_pair

_BATCH_ROWS = 4000
Replacements = Callable[[Source], Iterator[Replacement]]


class InAnotherForm(NamedTuple):
    """All of a file, compressed otherwise; `ending` is that of the new one (`generation_names`)."""

    ending: str
    pieces: Callable[[Source], Iterable[bytes | memoryview]]


Contents = Replacements | InAnotherForm
Check = Callable[[Source, Source], None]
Annotate = Callable[[SidecarRow, Record], SidecarRow]
MarksOf = Callable[[SidecarRow], Mapping[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A generation that is published, but not current yet; endings as `Generation` has them.

    `old_sha256` is of the bytes from which it was written.
    """

    archive_file: str
    generation: int
    size: int
    sha256: str
    old_sha256: str
    ending: str | None = None
    old_ending: str | None = None

    @property
    def name(self) -> str:
        """Its stored file."""
        return generation_file(self.archive_file, self.generation, self.ending)

    @property
    def old_name(self) -> str:
        """The stored file from which it was written."""
        return generation_file(self.archive_file, self.generation - 1, self.old_ending)


def _is_of_another(name: str) -> None:
    raise DigestMismatch("another file has the new generation's name", file=name)


def write_generation(
    archive: ArchiveReader,
    to: ArchiveStore,
    generation: Generation,
    contents: Contents,
    *,
    stored_sha256: str | None,
    token: str,
    check: Check,
    annotate: Annotate,
    require_spare: Callable[[str], None] = _is_of_another,
    at: Callable[[str], None] = lambda step: None,
) -> Written:
    """Write and publish the next generation, with its sidecar; readers see no change.

    It is read from `archive` and published in `to`: the same store, or the one from which a
    driver takes it.  `stored_sha256` is what the old one has to be; None where the caller compares,
    or means to mend it.  `token` names the files written aside.  `check(old, new)` raises if the
    new file is wrong; `annotate` adds the decision about a record to its sidecar row.
    `require_spare(name)` raises if what an act that died has left under the new name may not go.

    Raises:
        DigestMismatch: by `check`; if the old one is not what was stored; or if another file has
            the name of the new one, which no act has written, or its records differ.
    """
    new = _following(generation, contents)
    old_name, name = generation.name, new.name
    with (
        archive.open(old_name) as old_file,
        to.create_aside(aside_token(token, REWRITTEN)) as copy,
        to.create_aside(aside_token(token, SIDECAR)) as sidecar,
    ):
        old = Source(old_file, name=old_name)
        old_sha256 = old.sha256()
        if stored_sha256 is not None:
            require_as_stored(old_name, old_sha256, stored_sha256)
        if isinstance(contents, InAnotherForm):
            size = write_pieces(copy.file, contents.pieces(old))
        else:
            with archive.open(old_name) as copied:
                size = copy_file_with_replacements(copied, copy.file, old.size, contents(old))
        sha256 = copy.checksum()
        at("rewritten")
        with copy.open() as new_file:
            written = Source(new_file, name=name, size=size)
            check(old, written)
            at("checked")
            rows = iter_sidecar(archive, old_name)
            moved = _moved_rows(rows, written, annotate)
            write_sidecar(sidecar.file, moved, lambda: SidecarOf(name, new.number, sha256))
        is_of_an_act = to.size(sidecar_name(name)) is not None
        if is_of_an_act and to.size(name) is not None and to.checksum(name) != sha256:
            # Left by one that ended before it was current: nothing refers to it.
            require_spare(name)
        if not publish_pair(to, copy, sidecar, name, sha256=sha256, at=at):
            if not is_of_an_act:
                to.delete(sidecar_name(name))
                _is_of_another(name)
            to.delete(name)
            at("deleted")
            copy.publish(name)
            at("published")
    return Written(
        archive_file=new.archive_file,
        generation=new.number,
        size=size,
        sha256=sha256,
        old_sha256=old_sha256,
        ending=new.ending,
        old_ending=generation.ending,
    )


def _following(generation: Generation, contents: Contents) -> Generation:
    if not isinstance(contents, InAnotherForm):
        return generation.following()
    ending = ending_in(generation.archive_file, contents.ending)
    return generation.following()._replace(ending=ending)


def _moved_rows(
    rows: Iterable[SidecarRow], new: Source, annotate: Annotate
) -> Iterator[SidecarRow]:
    """The old rows with the places in the new file.  Order and number never change."""
    records = (item for item in iter_records(new, digests=()) if isinstance(item, Record))
    for row, record in zip_longest(rows, records):
        if (
            row is None
            or record is None
            or row.record_id != record.record_id
            or row.target_uri != record.target_uri
        ):
            # A damaged member may extend into the bytes that follow it, so that other bytes there
            # change how the record before them is read.
            raise DigestMismatch(
                "its records would be read differently in the new file, or its sidecar is that of "
                "another file (`pinakes fsck` tells); nothing was changed",
                file=new.name,
                offset=record.offset if record is not None else None,
            )
        moved = row._replace(
            offset=record.offset, length=record.length, inner_offset=record.inner_offset
        )
        yield annotate(moved, record)


def publish_taken(
    rows: RowStore,
    archive: ArchiveStore,
    written: Written,
    *,
    token: str,
    folder: str,
    sidecar_sha256: str,
    at: Callable[[str], None] = lambda step: None,
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
            _is_of_another(written.name)
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
    at: Callable[[str], None] = lambda step: None,
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

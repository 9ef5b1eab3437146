"""The records of a stored file: from its sidecar, or read again from its bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import BinaryIO

from pinakes.archive_store.names import check_file_name
from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.hbase_schema.act_times import next_act_time
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import (
    generation_file,
    generation_of,
    iter_generation_files,
)
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.cells import decode_stored
from pinakes.row_store.port import Put, RowStore, get_row
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .file_rows import TABLE, FileEntry, generations_of, read_entry
from .requests import iter_rows
from .sidecar import (
    Places,
    SidecarOf,
    SidecarRow,
    read_places,
    read_sidecar,
    read_sidecar_at,
    read_sidecar_of,
    sidecar_name,
)


def read_generations(store: RowStore, archive_file: str) -> dict[int, GenerationFacts]:
    """Every generation ever written, by number.  One round trip."""
    row = get_row(store, TABLE, encode_file_key(archive_file), columns=[b"f"])
    return generations_of(row) if row is not None else {}


def read_current(store: RowStore, entry: FileEntry) -> GenerationFacts:
    """What was noted of a file's current generation when it was stored.

    Raises InputRefused where its row does not say.
    """
    facts = read_generations(store, entry.archive_file).get(entry.generation)
    if facts is None:
        raise InputRefused("its rows are not complete: see `pinakes fsck`", file=entry.archive_file)
    return facts


def require_as_stored(name: str, sha256: str, stored_sha256: str) -> None:
    """Raise DigestMismatch for a stored file that has other bytes than it was stored with."""
    if sha256 != stored_sha256:
        raise DigestMismatch("is not what was stored: see `pinakes fsck`", file=name)


def note_dropped(
    store: RowStore, archive_file: str, names: Collection[str], *, act: str, act_time_ms: int
) -> None:
    """Note that these stored files of generations are dropped, before they are.

    So that one which is lost is distinguished from one which was dropped.
    """
    key = encode_file_key(archive_file)
    row = get_row(store, TABLE, key, columns=[b"f"])
    puts = []
    for column, cell in row.cells.items() if row is not None else ():
        if column.startswith(GenerationFacts.COLUMN):
            facts = decode_stored(GenerationFacts, TABLE, key, column, cell.value)
            if facts.file in names and not facts.dropped:
                cells = {column: encode_cell(replace(facts, dropped=act))}
                # A clock may have been set back.
                puts.append(Put(key, cells, next_act_time(cell.timestamp_ms, act_time_ms)))
    store.mutate(TABLE, puts)


def possible_names(archive_file: str, number: int) -> Iterator[str]:
    """Yield the names that a generation may have, whichever act wrote it, as landed first.

    Not those with another ending that are too long for a file: no act has written one.
    """
    for name in iter_generation_files(archive_file, number):
        with suppress(InputRefused):
            check_file_name(sidecar_name(name))
            yield name


def stored_names(entry: FileEntry, generations: Mapping[int, GenerationFacts]) -> list[str]:
    """The names that its generations may have, the current one first.

    Includes those past the last: a run that died may have published it.
    """
    last = max((entry.generation, *generations))
    possible = (
        name for number in range(1, last + 2) for name in possible_names(entry.archive_file, number)
    )
    return sorted(possible, key=lambda name: name != entry.stored_name)


def known_names(
    entry: FileEntry, generations: Mapping[int, GenerationFacts], *, is_unfinished: bool
) -> Iterator[str]:
    """Yield the names of its generations as they were written; while an act is not finished, also
    those that the next one may have."""
    last = max((entry.generation, *generations))
    for number in range(1, entry.generation + 1 if is_unfinished else last + 1):
        yield name_of(entry, generations, number)
    if is_unfinished:
        yield from unfinished_names(entry, generations)


def unfinished_names(entry: FileEntry, generations: Mapping[int, GenerationFacts]) -> Iterator[str]:
    """Yield the names that generations after the current one may have."""
    last = max((entry.generation, *generations))
    for number in range(entry.generation + 1, last + 2):
        yield from possible_names(entry.archive_file, number)


def older_names(entry: FileEntry) -> list[str]:
    """The names that generations before the current one may have, in order of number, and those
    that it has not: of an act which ended before it."""
    numbers = range(1, entry.generation + 1 if entry.generation > 1 else 1)
    possible = (name for number in numbers for name in possible_names(entry.archive_file, number))
    return [name for name in possible if name != entry.stored_name]


def name_of(entry: FileEntry, generations: Mapping[int, GenerationFacts], number: int) -> str:
    """The stored file of a generation up to the current one."""
    if number == entry.generation:
        return entry.stored_name
    facts = generations.get(number)
    return facts.file if facts is not None else generation_file(entry.archive_file, number)


def iter_known_rows(archive: ArchiveReader, names: list[str]) -> Iterator[SidecarRow] | None:
    """The rows of the first of these files that has a sidecar of its own; None if none has.

    Row keys and digests are those of the records as landed, in every generation.  One that says
    that it is another file's is passed over.

    Raises:
        MalformedRecord: the sidecar is damaged.
    """
    for name in names:
        if archive.size(sidecar_name(name)) is None:
            continue
        of = sidecar_of(archive, name)
        if of is None or of.file == name:
            return iter_sidecar(archive, name)
    return None


def iter_sidecar(archive: ArchiveReader, name: str) -> Iterator[SidecarRow]:
    """The rows of a stored file's sidecar, in order.

    Raises:
        MalformedRecord: the sidecar is damaged.
    """
    with _sidecar(archive, name) as file:
        yield from read_sidecar(file)


def sidecar_rows_at(archive: ArchiveReader, name: str, offset: int) -> list[SidecarRow]:
    """The rows of the records of a stored file that begin at an offset: `read_sidecar_at`.

    Raises:
        MalformedRecord: the sidecar is damaged.
    """
    with _sidecar(archive, name) as file:
        return read_sidecar_at(file, offset)


def sidecar_places(archive: ArchiveReader, name: str) -> Places:
    """Where the records of a stored file are: `read_places`.

    Raises:
        InputRefused: it has no sidecar.
        MalformedRecord: the sidecar is damaged.
    """
    with _sidecar(archive, name) as file:
        return read_places(file)


def sidecar_of(archive: ArchiveReader, name: str) -> SidecarOf | None:
    """The file that the sidecar of a stored file says it describes; None of an older version.

    Raises:
        MalformedRecord: the sidecar is damaged.
    """
    with _sidecar(archive, name) as file:
        return read_sidecar_of(file)


@contextmanager
def _sidecar(archive: ArchiveReader, name: str) -> Iterator[BinaryIO]:
    """The open sidecar of a stored file, which is named where it is damaged or missing."""
    sidecar = sidecar_name(name)
    try:
        with archive.open(sidecar) as file:
            yield file
    except MalformedRecord as error:
        raise MalformedRecord(error.message, file=sidecar) from error
    except InputRefused as error:
        if error.file != sidecar or archive.size(sidecar) is not None:
            raise
        if archive.size(name) is None:
            raise InputRefused("file not found in the store", file=name) from error
        raise InputRefused(
            "its sidecar is missing: `pinakes fsck --repair` rebuilds it, or `--accept` where the "
            "file is damaged, too",
            file=name,
        ) from error


def read_rows_anew(
    archive: ArchiveReader,
    archive_file: str,
    *,
    act_time_ms: int,
    each: Callable[[int], None] = lambda size: None,
) -> Iterator[SidecarRow]:
    """The rows of a file's first generation, as its landing at that time wrote them."""
    landed = datetime.fromtimestamp(act_time_ms / 1000, timezone.utc)

    def records(source: Source) -> Iterator[Record]:
        for item in iter_records(source, digests=("sha1", "sha256")):
            if isinstance(item, Record):
                each(item.length)
                yield item

    with archive.open(archive_file) as file:
        source = Source(file, name=archive_file)
        yield from iter_rows(records(source), archive_file=archive_file, landed=landed)


def name_in_store(store: RowStore, archive: ArchiveReader, file: str) -> str:
    """The stored file of this name; of a file whose first generation was dropped, its current one.

    What was dropped, or taken out, is not there, also where it was put back.

    Raises:
        InputRefused: the store has no such file.
    """
    asked = generation_of(file)
    entry = read_entry(store, asked.archive_file)
    if archive.size(file) is not None:
        if entry.state is not None and entry.state.is_gone:
            raise InputRefused("was taken out, and is there again: see `pinakes fsck`", file=file)
        if asked.number >= entry.generation:
            return file
        facts = read_generations(store, asked.archive_file).get(asked.number)
        if facts is None or not facts.dropped:
            return file
    if entry.state is not FileState.STORED or asked.number != 1:
        raise InputRefused("file not found on disk or in the store", file=file)
    return entry.stored_name


def capture_at(
    archive: ArchiveReader, file: str, offset: int, inner_offset: int | None = None
) -> bytes | None:
    """The row key of the capture at an offset, None if there is none; of several in one member the
    first, where no inner offset is given."""
    if archive.size(sidecar_name(file)) is None:
        return None
    for row in iter_sidecar(archive, file):
        if (
            row.offset == offset
            and row.row_key is not None
            and inner_offset in (None, row.inner_offset)
        ):
            return row.row_key
        if row.offset > offset:
            break
    return None

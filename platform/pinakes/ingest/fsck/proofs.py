"""What fsck reads of a stored file before it relies on it: its bytes, and whose its sidecar is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar, read_rows_anew, sidecar_of
from pinakes.catalog.sidecar import SidecarOf, SidecarRow
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source


def whose_else(archive: ArchiveReader, name: str, of: SidecarOf) -> str | None:
    """Which other file the sidecar of a stored file says it describes; None where it is right, or
    does not say."""
    found = sidecar_of(archive, name)
    if found is None or found == of:
        return None
    if found.file != of.file:
        return f"describes {found.file}"
    if found.generation != of.generation:
        return f"describes generation {found.generation}"
    return "describes other bytes: those of an earlier file of this name"


def is_of_its_file(archive: ArchiveReader, name: str, of: SidecarOf, *, act_time_ms: int) -> bool:
    """Whether the sidecar of a stored file, whose bytes are as on record, describes that file.

    One that does not say so is compared with all records, which are hashed.  `act_time_ms` is the
    time of the landing.
    """
    found = sidecar_of(archive, name)
    if found is not None:
        return found == of
    rows = iter_sidecar(archive, name)
    anew = read_rows_anew(archive, name, act_time_ms=act_time_ms)
    return all(
        row is not None
        and read is not None
        and _as_compared(row) == _as_compared(read)
        and (_differs_by_design(row) or None in (row.sha256, read.sha256) or _same(row, read))
        for row, read in zip_longest(rows, anew)
    )


def _as_compared(row: SidecarRow) -> tuple[object, ...]:
    return (*place_of(row), row.ordinal, row.length, row.date)


def _same(row: SidecarRow, read: SidecarRow) -> bool:
    return (row.sha256, row.payload_size) == (read.sha256, read.payload_size)


def _differs_by_design(row: SidecarRow) -> bool:
    """Whether the record is not the one that landed: a revisit of ours, or a tombstone."""
    return row.is_replaced or is_tombstone_row(row)


def misplaced(archive: ArchiveReader, name: str) -> Iterator[SidecarRow | None]:
    """The first row that is not of its record; None: a row is missing.  Reads all."""
    rows = iter_sidecar(archive, name)
    with archive.open(name) as file:
        items = iter_records(Source(file, name=name), digests=())
        records = (item for item in items if isinstance(item, Record))
        for record, row in zip_longest(records, rows):
            if record is None or row is None or place_of(record) != place_of(row):
                yield row
                return


def place_of(record: Record | SidecarRow) -> tuple[object, ...]:
    """Its location, and its id."""
    return (record.offset, record.inner_offset, record.record_id, record.target_uri)

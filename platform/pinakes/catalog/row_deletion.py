"""Delete the rows of a file's captures: by its sidecar, or, without one, by a scan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.digest_keys import decode_digest_key
from pinakes.row_store.port import Delete, RowStore

from .record_rows import digest_rows
from .sidecar import SidecarRow

_BATCH_ROWS = 4000


class RowName(NamedTuple):
    """A row of `captures` or `digests`, and its archive file."""

    table: str
    key: bytes
    archive_file: str


def rows_of_records(
    rows: Iterable[SidecarRow], archive_file: str, collection: str
) -> Iterator[RowName]:
    """The rows that landing wrote for these records."""
    for row in rows:
        if row.row_key is not None:
            yield RowName("captures", row.row_key, archive_file)
            for key, _ in digest_rows(row, archive_file, collection):
                yield RowName("digests", key, archive_file)


def scan_rows_of(store: RowStore, files: Collection[str]) -> Iterator[RowName]:
    """Yield the rows of these files by reading both tables to the end: a last resort, for
    files that have neither sidecar nor bytes."""
    return (row for row in _scan_all(store) if row.archive_file in files)


def scan_rows_outside(store: RowStore, files: Collection[str]) -> Iterator[RowName]:
    """The rows of all other files; reads both tables to the end."""
    return (row for row in _scan_all(store) if row.archive_file not in files)


def _scan_all(store: RowStore) -> Iterator[RowName]:
    for row in store.scan("captures", columns=[CaptureFacts.COLUMN]):
        value = row.value(CaptureFacts.COLUMN)
        if value is not None:
            yield RowName("captures", row.key, decode_cell(CaptureFacts, value).archive_file)
    for row in store.scan("digests"):
        yield RowName("digests", row.key, decode_digest_key(row.key).archive_file)


def delete_rows(store: RowStore, names: Iterable[RowName], act_times_ms: Mapping[str, int]) -> None:
    """Delete rows, with everything that later acts wrote into them.

    `act_times_ms` has the time of the deleting act by archive file.  Idempotent.  Memory: one
    batch.
    """
    batches: dict[str, list[Delete]] = {"captures": [], "digests": []}
    for table, key, archive_file in names:
        batch = batches[table]
        batch.append(Delete(key, act_times_ms[archive_file]))
        if len(batch) == _BATCH_ROWS:
            store.mutate(table, batch)
            batch.clear()
    for table, batch in batches.items():
        store.mutate(table, batch)

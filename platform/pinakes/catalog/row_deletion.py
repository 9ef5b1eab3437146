"""Delete the rows of a file's captures: by its sidecar, or, without one, by a scan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pinakes.hbase_schema.capture_cells import CaptureFacts, Pin
from pinakes.hbase_schema.capture_keys import encode_mark
from pinakes.hbase_schema.digest_keys import decode_digest_key
from pinakes.row_store.cells import read_cell
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
    """The rows that landing wrote for these records.

    A row that another file's sidecar names is that file's: its key says so.
    """
    for row in rows:
        if row.row_key is not None and row.row_key.endswith(encode_mark(archive_file, row.ordinal)):
            yield RowName("captures", row.row_key, archive_file)
            for key, _ in digest_rows(row, archive_file, collection):
                yield RowName("digests", key, archive_file)


def scan_rows_of(store: RowStore, files: Collection[str]) -> Iterator[RowName]:
    """Yield the rows of these files by reading both tables to the end: a last resort, for
    files that have neither sidecar nor bytes."""
    return (row for row in _scan_all(store) if row.archive_file in files)


def _scan_all(store: RowStore) -> Iterator[RowName]:
    for row in store.scan("captures", columns=[CaptureFacts.COLUMN]):
        facts = read_cell(CaptureFacts, "captures", row)
        if facts is not None:
            yield RowName("captures", row.key, facts.archive_file)
    for row in store.scan("digests"):
        yield RowName("digests", row.key, decode_digest_key(row.key).archive_file)


def delete_rows(
    store: RowStore,
    names: Iterable[RowName],
    act_times_ms: Mapping[str, int],
    *,
    with_pins: bool = False,
) -> None:
    """Delete rows, with everything that later acts wrote into them, but for pins.

    A pin says that revisits name the record, and does so for a record that lands there again: it
    goes only `with_pins`, of what nothing refers to.  `act_times_ms` has the time of the deleting
    act by archive file.  Idempotent.  Memory: one batch.
    """
    batches: dict[str, list[Delete]] = {"captures": [], "digests": []}
    for table, key, archive_file in names:
        batch = batches[table]
        batch.append(Delete(key, act_times_ms[archive_file]))
        if len(batch) == _BATCH_ROWS:
            _delete(store, table, batch, with_pins=with_pins)
            batch.clear()
    for table, batch in batches.items():
        _delete(store, table, batch, with_pins=with_pins)


def _delete(store: RowStore, table: str, batch: Sequence[Delete], *, with_pins: bool) -> None:
    if table == "captures" and not with_pins:
        batch = list(_but_for_pins(store, table, batch))
    store.mutate(table, batch)


def _but_for_pins(store: RowStore, table: str, batch: Sequence[Delete]) -> Iterator[Delete]:
    """One round trip, and another where there are pins."""
    keys = [delete.row for delete in batch]
    pinned = list(store.get_rows(table, keys, columns=[Pin.COLUMN]))
    rows = store.get_rows(table, pinned) if pinned else {}
    for delete in batch:
        row = rows.get(delete.row)
        if row is None:
            yield delete
        elif others := row.cells.keys() - {Pin.COLUMN}:
            yield replace(delete, columns=sorted(others))

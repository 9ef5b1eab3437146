"""The records of stored files as entries, from their sidecars."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.selection import Entry
from pinakes.row_store.port import RowStore

from .declared import sha1_text
from .file_records import iter_sidecar
from .file_rows import FileEntry, scan_entries, scan_inflight
from .sidecar import SidecarRow
from .withdrawals import is_tombstone_row


def stored_files(rows: RowStore, crawl: str) -> Iterator[FileEntry]:
    """The files of a crawl that readers see, by name."""
    hidden = scan_inflight(rows)
    for entry in scan_entries(rows, crawl):
        if entry.state is FileState.STORED and entry.archive_file not in hidden:
            yield entry


def iter_stored_entries(archive: ArchiveReader, entry: FileEntry) -> Iterator[Entry]:
    """The records of a stored file as it is now, in order, without those that were withdrawn."""
    name = entry.stored_name
    for row in iter_sidecar(archive, name):
        if is_tombstone_row(row) or row.ordinal not in entry.withdrawing:
            yield _entry_of_row(row, name)


def _entry_of_row(row: SidecarRow, file: str) -> Entry:
    if is_tombstone_row(row):
        # Its digests and size are those of what is gone.
        row = row._replace(payload_size=None, sha1=None)
    return Entry(
        file,
        row.offset,
        row.length,
        row.inner_offset,
        "revisit" if row.is_replaced else row.type,
        row.date,
        row.target_uri,
        row.status,
        row.media_type,
        row.content_length if row.payload_size is None else row.payload_size,
        sha1_text(row.sha1) if row.sha1 is not None else row.declared,
        row.record_id,
        tuple(row.findings.split()) if row.findings else (),
    )

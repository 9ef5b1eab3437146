"""What was taken down: noted on captures, and by the SHA-256 that their files landed with.

In sidecars a tombstone is a row of its type with `skip` saying so; row key and digests are those
of the record as landed, by which its rows are found when its crawl is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import ExtractedView
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.name_keys import encode_withdrawn_key
from pinakes.hbase_schema.withdrawal_cells import Withdrawal, WithdrawnFile
from pinakes.row_store.port import Delete, Put, RowStore, get_row
from pinakes.warc.tombstone import TOMBSTONE_TYPE

from .captures import TABLE
from .crawl_rows import TABLE as CRAWLS
from .file_rows import FileEntry
from .sidecar import SidecarRow

SKIP = "withdrawn"


def entombed(row: SidecarRow) -> SidecarRow:
    """The row of a record for which a tombstone stands now.

    Nothing refers to it, and it refers to nothing.
    """
    return row._replace(
        type=TOMBSTONE_TYPE,
        skip=SKIP,
        status=None,
        method=None,
        media_type=None,
        declared=None,
        verified_over=None,
        findings=None,
        hash_extension=None,
        copy_number=None,
        original_key=None,
        refers_uri=None,
        refers_date=None,
        refers_id=None,
    )


def is_entombed(row: SidecarRow) -> bool:
    """Whether a tombstone stands for this record."""
    return row.skip == SKIP


def put_withdrawals(
    store: RowStore, withdrawals: Iterable[tuple[bytes, Withdrawal]], *, act_time_ms: int
) -> None:
    """Note that captures are withdrawn, by row key; what was extracted of their bodies goes."""
    puts = [
        Put(key, {Withdrawal.COLUMN: encode_cell(cell)}, act_time_ms) for key, cell in withdrawals
    ]
    store.mutate(TABLE, puts)
    columns = (ExtractedView.COLUMN,)
    store.mutate(TABLE, [Delete(put.row, act_time_ms, columns=columns) for put in puts])


def refuse_bytes(
    store: RowStore, entries: Collection[FileEntry], act: str, act_time_ms: int
) -> None:
    """Note that the bytes with which these files landed are not to land again."""
    puts = []
    for entry in entries:
        if entry.facts is not None:
            cell = WithdrawnFile(archive_file=entry.archive_file, act=act)
            key = encode_withdrawn_key(entry.facts.sha256)
            puts.append(Put(key, {WithdrawnFile.COLUMN: encode_cell(cell)}, act_time_ms))
    store.mutate(CRAWLS, puts)


def require_not_withdrawn(store: RowStore, sha256: str, place: str) -> None:
    """Raise InputRefused where records of a file with this SHA-256 were withdrawn.

    One round trip.
    """
    key = encode_withdrawn_key(sha256)
    row = get_row(store, CRAWLS, key, columns=[WithdrawnFile.COLUMN])
    value = row.value(WithdrawnFile.COLUMN) if row is not None else None
    if value is not None:
        cell = decode_cell(WithdrawnFile, value)
        raise InputRefused(
            f"these are the bytes that landed as {cell.archive_file}, and records of them were "
            f"withdrawn ({cell.act}): leave those out first, with `pinakes filter`",
            file=place,
        )

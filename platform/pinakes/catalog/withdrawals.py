"""What was taken down: noted on captures, and by the SHA-256 that their files landed with.

In sidecars a tombstone is a row of its type with `skip` saying so; row key and digests are those
of the record as landed, by which its rows are found when its crawl is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import ExtractedView
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.name_keys import encode_withdrawn_key
from pinakes.hbase_schema.withdrawal_cells import Withdrawal, WithdrawnFile
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Delete, Put, RowStore, get_row
from pinakes.warc.tombstone import TOMBSTONE_TYPE

from .captures import TABLE
from .crawl_rows import TABLE as CRAWLS
from .file_records import iter_sidecar
from .file_rows import FileEntry, read_entry
from .sidecar import SidecarRow

SKIP = "withdrawn"


class BytesWithdrawn(InputRefused):
    """Records of these very bytes were withdrawn, so they do not land again."""


def as_tombstone_row(row: SidecarRow) -> SidecarRow:
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


def is_tombstone_row(row: SidecarRow) -> bool:
    """Whether a tombstone stands for this record."""
    return row.skip == SKIP


def rows_still_there(
    archive: ArchiveReader, name: str, withdrawing: Collection[int]
) -> Iterator[SidecarRow]:
    """Of these withdrawn records, those that a stored file still holds; in order.

    Nothing is read where none are withdrawn.
    """
    if withdrawing:
        rows = iter_sidecar(archive, name)
        yield from (row for row in rows if row.ordinal in withdrawing and not is_tombstone_row(row))


def require_none_at(
    store: RowStore, archive: ArchiveReader, name: str, offset: int, inner_offset: int
) -> None:
    """Raise InputRefused for a place in a stored file that is of a withdrawn record.

    A neighbour in its member may be read, at the place where that begins.
    """
    entry = read_entry(store, generation_of(name).archive_file)
    there = [
        row
        for row in rows_still_there(archive, name, entry.withdrawing)
        if row.offset <= offset < row.offset + row.length
    ]
    if not there or any(
        (row.offset, row.inner_offset) == (offset, inner_offset)
        for row in iter_sidecar(archive, name)
        if row.ordinal not in entry.withdrawing
    ):
        return
    raise withdrawn_at(name, offset)


def withdrawn_at(name: str, offset: int) -> InputRefused:
    """For a record that is not given out any more."""
    return InputRefused("the record here was withdrawn", file=name, offset=offset)


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
    """Raise BytesWithdrawn where records of a file with this SHA-256 were withdrawn.

    One round trip.
    """
    key = encode_withdrawn_key(sha256)
    row = get_row(store, CRAWLS, key, columns=[WithdrawnFile.COLUMN])
    cell = read_cell(WithdrawnFile, CRAWLS, row)
    if cell is not None:
        raise BytesWithdrawn(
            f"these are the bytes that landed as {cell.archive_file}, and records of them were "
            f"withdrawn ({cell.act}): leave those out first, with `pinakes filter`",
            file=place,
        )

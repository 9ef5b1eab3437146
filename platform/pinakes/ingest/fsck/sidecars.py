"""Rewrites the sidecar of a stored file, from its bytes; what that replaces is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.acts.generations import SIDECAR, aside_token
from pinakes.archive_store.anew import write_anew
from pinakes.archive_store.port import ArchiveReader, ArchiveStore, AsideFile
from pinakes.catalog.file_records import read_rows_anew
from pinakes.catalog.file_rows import FileEntry, Held
from pinakes.catalog.generation_rows import read_generation_rows
from pinakes.catalog.kept_repairs import RowChange
from pinakes.catalog.sidecar import SidecarOf, SidecarRow, sidecar_name, write_sidecar
from pinakes.errors import InputRefused
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .quarantine import Quarantine


def put_sidecar(
    archive: ArchiveStore,
    quarantine: Quarantine,
    held: Held,
    rows: Callable[[], Iterable[SidecarRow]],
    of: SidecarOf,
    *,
    entry: FileEntry,
    code: str,
    why: str,
    changes: Callable[[AsideFile], Iterable[RowChange]] = lambda aside: (),
) -> str | None:
    """Write it, make the changes of rows that go with it, and return the id of the repair.

    `changes` may read what was written.
    """
    name = sidecar_name(of.file)

    def write() -> str | None:
        with archive.create_aside(aside_token(held.claim.token, SIDECAR)) as aside:
            write_sidecar(aside.file, rows(), lambda: of)
            sha256 = aside.checksum()
            repair = quarantine.replace(
                code=code,
                file=of.file,
                why=why,
                entry=entry,
                changes=changes(aside),
                files=[(name, sha256)],
                late_ms=held.claim.act_time_ms,
            )
            if archive.size(name) is None:
                aside.publish(name)
            return repair

    return write_anew(write, entry.archive_file)


def read_older_rows(
    store: RowStore, archive: ArchiveReader, archive_file: str, of: SidecarOf, *, act_time_ms: int
) -> Iterator[SidecarRow]:
    """The rows of a generation that was replaced, by its bytes, and what rows still say of it.

    Raises:
        InputRefused: rows show a later decision.
    """
    if of.generation == 1:
        yield from read_rows_anew(archive, of.file, act_time_ms=act_time_ms)
        return
    rows = read_generation_rows(store, archive, archive_file, of.file, act_time_ms=act_time_ms)
    with archive.open(of.file) as file:
        items = iter_records(Source(file, name=of.file), digests=())
        records = (item for item in items if isinstance(item, Record))
        for row, record in zip(rows, records, strict=True):
            if not _is_decided_so(row, record):
                raise InputRefused(
                    f"rows no longer say what was decided on the record at {row.offset}: "
                    "put its sidecar back from a copy",
                    file=of.file,
                )
            yield row


def _is_decided_so(row: SidecarRow, record: Record) -> bool:
    """Whether a record is full, or refers to what its row says."""
    is_replaced = record.type == "revisit" and row.type != "revisit" and is_ours(record.header)
    named = (row.refers_uri, row.refers_date, row.refers_id)
    return is_replaced == row.is_replaced and (
        not is_replaced or record.header.refers_to() == named
    )

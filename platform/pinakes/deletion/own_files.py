"""Whether the stored files of a crawl are its own; read before any of them is deleted.

A file system, or a restore by hand, may have put the last copy of another file under a name of the
crawl.
"""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.catalog.file_counts import has_landed
from pinakes.catalog.file_records import (
    iter_sidecar,
    read_generations,
    sidecar_of,
    stored_names,
)
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import DigestMismatch
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_Outline = tuple[str | None, str | None, str | None]
"""Of a record: URL, date and id (`Header.outline`)."""


def require_own_files(rows: RowStore, archive: ArchiveStore, crawl: str) -> None:
    """Require that under the names of a crawl's landed files no other file is stored.

    Reads all of them.  Bytes with the SHA-256 on record are its own; of others, which are damaged,
    each record that can be read has to be in a sidecar of the file, by URL, date and id.  Memory:
    these of one damaged file.

    Raises:
        DigestMismatch: a stored file holds other records.
        MalformedRecord: a sidecar is damaged, too.
        StoreUnavailable: as the stores.
    """
    for entry in scan_entries(rows, crawl):
        if entry.facts is None or entry.state is None or entry.state.is_gone:
            continue
        if not has_landed(rows, entry.archive_file, entry.facts):
            continue
        generations = read_generations(rows, entry.archive_file)
        on_record = {facts.file: facts for facts in generations.values()}
        names = stored_names(entry, generations)
        for name in names:
            if archive.size(name) is None:
                continue
            if how_bytes_differ(archive, name, on_record.get(name)) is not None:
                _require_own_records(archive, entry.archive_file, name, names)


def _require_own_records(
    archive: ArchiveReader, archive_file: str, name: str, names: Iterable[str]
) -> None:
    own = _own_records(archive, names)
    if own is None:
        raise DigestMismatch(
            f"is not what was stored, and no sidecar says whether its records are those of "
            f"{archive_file}, so nothing was deleted: `pinakes fsck --full` says what can be done",
            file=name,
        )
    with archive.open(name) as file:
        for item in iter_records(Source(file, name=name), digests=()):
            if isinstance(item, Record) and item.header.outline() not in own:
                raise DigestMismatch(
                    f"holds records that are not those of {archive_file}, such as this: nothing "
                    "was deleted; `pinakes fsck --full` says what is where",
                    file=name,
                    offset=item.offset,
                )


def _own_records(archive: ArchiveReader, names: Iterable[str]) -> set[_Outline] | None:
    """The records that the sidecars of a file's generations name; None where there is none."""
    own: set[_Outline] | None = None
    for name in names:
        if archive.size(sidecar_name(name)) is None:
            continue
        of = sidecar_of(archive, name)
        own = own or set()
        if of is None or of.file == name:
            rows = iter_sidecar(archive, name)
            own.update((row.target_uri, row.date, row.record_id) for row in rows)
    return own

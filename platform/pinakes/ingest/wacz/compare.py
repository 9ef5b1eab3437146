"""Whether a WACZ file that was imported is there: its files by their sizes, or by the first record
of each, which is read of both.

No act of ours changes the id, URL or date of a record.
"""

from __future__ import annotations

from pinakes.archive_store.located import declared_at, is_package_at, open_place
from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import scan_entries_below
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.wacz_cells import QueuedWacz
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .sources import WaczSource


def require_imported(
    rows: RowStore,
    archive: ArchiveStore,
    source: WaczSource | QueuedWacz,
    folder: str,
    *,
    compared: TrustedPlaces | None = None,
) -> None:
    """Require the files of a WACZ file that was imported, by their sizes.

    `compared`: by their first records, too, read from there, before what manifests do not name is
    taken out.

    Raises:
        DigestMismatch: they are not there, or not those.
        InputRefused: the WACZ file cannot be read, to compare it.
    """
    missing: str | None = folder
    for entry in scan_entries_below(rows, folder):
        missing = None
        facts = read_generations(rows, entry.archive_file).get(entry.generation)
        is_stored = entry.state is FileState.STORED
        if (
            entry.state is None
            or entry.facts is None
            or (is_stored and how_bytes_differ(archive, entry.stored_name, facts, quick=True))
        ):
            missing = entry.stored_name
            break
        if is_stored and compared is not None:
            compared.require(source.place, source.origin)
            path = entry.archive_file.removeprefix(folder).lstrip("/")
            _require_first_record_of(archive, entry.stored_name, source.place, path)
    if missing is not None:
        raise DigestMismatch(
            f"it was imported, but {missing} is not in the store as it landed: keep this "
            "copy, and see `pinakes fsck`",
            file=source.place,
        )


def _require_first_record_of(archive: ArchiveReader, stored: str, place: str, path: str) -> None:
    """Compare a stored file with the member `path` of the WACZ file, or archive file, at `place`.

    The documents of a package are no member: their records are ours, and not compared.

    Raises:
        DigestMismatch: they begin with different records.
        InputRefused: the WACZ file cannot be read.
        StoreUnavailable: a server does not answer, or the stored file is missing.
    """
    if is_package_at(place):
        place_inside = f"{place}/{path}"
        if declared_at(place_inside) is None:
            return
    else:
        place_inside = place
    with open_place(place_inside) as source:
        expected = _first_record(source)
    with archive.open(stored) as file:
        found = _first_record(Source(file, name=stored))
    if found != expected:
        raise DigestMismatch(
            f"the catalogue says that it was imported as {stored}, which begins with another "
            "record: keep this copy, and see `pinakes fsck`",
            file=place,
        )


def _first_record(source: Source) -> tuple[str | None, ...] | None:
    records = (item for item in iter_records(source, digests=()) if isinstance(item, Record))
    return next((record.header.outline() for record in records), None)

"""Whether stored files are those of a WACZ file: by their first records, which are read of both.

No act of ours changes the id, URL or date of a record.
"""

from __future__ import annotations

from pinakes.archive_store.located import declared_at, is_package_at, open_place
from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source


def require_first_record_of(archive: ArchiveReader, stored: str, place: str, path: str) -> None:
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
    for item in iter_records(source, digests=()):
        if isinstance(item, Record):
            return item.record_id, item.target_uri, item.date_text
    return None

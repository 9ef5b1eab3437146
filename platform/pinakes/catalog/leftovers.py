"""What an act that died has left of a next generation, asked before it is deleted.

It is known by its name and by the row of the current generation.  Rows that were put back old call
a good generation so: it may be the last that holds a record whole, or the one in which a record was
withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import ONE_FILE_ONLY, DigestMismatch
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.tombstone import is_tombstone, withdrawing_act

from .captures import get_captures, place_captures
from .file_records import iter_sidecar
from .payloads import open_body
from .revisit_targets import FULL

_Key = tuple[str | None, str | None, str | None]
"""URI, date and record id."""


def require_nothing_more(
    rows: RowStore, archive: ArchiveReader, name: str, old_name: str, *, act: str | None
) -> None:
    """Raise DigestMismatch where a file that is to be deleted holds more than the generation from
    which it was written, or less, since records were withdrawn by another act than `act`.

    More is a record that is whole in it alone.  Where the generation has a revisit of it, the
    original is read.  Reads both files, where `name` is there.  Memory: addresses and digests of a
    file's records.
    """
    if archive.size(name) is None:
        return
    held = {key: _sha256_of(record) for key, record in _whole_records(archive, old_name)}
    elsewhere: dict[_Key, bytes] = {}
    for key, record in _whole_records(archive, name, tombstones=True):
        if is_tombstone(record.header):
            if key in held and withdrawing_act(record) != act:
                raise DigestMismatch(
                    f"is no generation in the catalogue, and records of {old_name} were withdrawn "
                    "in it: the rows are older than the files; nothing was changed",
                    file=name,
                )
            continue
        sha256 = _sha256_of(record)
        if key not in held or (sha256 is not None and held[key] not in (None, sha256)):
            raise _alone(name, old_name)
        if sha256 is not None and held[key] is None:
            elsewhere[key] = sha256
    if elsewhere and not _are_given(rows, archive, old_name, elsewhere):
        raise _alone(name, old_name)


def _alone(name: str, old_name: str) -> DigestMismatch:
    return DigestMismatch(
        f"is no generation in the catalogue, and it alone holds records of {old_name} whole: "
        "nothing was changed; `pinakes fsck --full` lists what is damaged",
        file=name,
    )


def _are_given(
    rows: RowStore, archive: ArchiveReader, name: str, wanted: dict[_Key, bytes]
) -> bool:
    """Whether the originals of these revisits of a file can be read, and have these bodies."""
    left = dict(wanted)
    try:
        for row in iter_sidecar(archive, name):
            sha256 = left.get((row.target_uri, row.date, row.record_id))
            if sha256 is None or row.row_key is None:
                continue
            captures = get_captures(rows, [row.row_key]).values()
            for placed in place_captures(rows, captures):
                with open_body(rows, archive, placed) as record:
                    if record.payload_hash("sha256") != sha256:
                        return False
                del left[row.target_uri, row.date, row.record_id]
    except ONE_FILE_ONLY:
        return False
    return not left


def _sha256_of(record: Record) -> bytes | None:
    return record.payload_hash("sha256") if record.type in FULL else None


def _whole_records(
    archive: ArchiveReader, name: str, *, tombstones: bool = False
) -> Iterator[tuple[_Key, Record]]:
    """The records that can be read to their end."""
    with archive.open(name) as file:
        for item in iter_records(Source(file, name=name), digests=("sha256",)):
            if not isinstance(item, Record) or (is_tombstone(item.header) and not tombstones):
                continue
            if not item.damage:
                yield item.header.outline(), item

"""What an act that died has left of a next generation, asked before it is deleted.

It is known by its name and by the row of the current generation.  Rows that were put back old call
a good generation so, and it may be the last that holds a record whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.tombstone import is_tombstone

from .revisit_targets import FULL

_Key = tuple[str | None, str | None, str | None]
"""URI, date and record id."""


def require_nothing_more(
    there: ArchiveReader, name: str, archive: ArchiveReader, old_name: str
) -> None:
    """Raise DigestMismatch where a file that is to be deleted holds more than the generation from
    which it was written: a record that is whole in it alone.

    Reads both, where `name` is there.  Memory: addresses and digests of a file's records.
    """
    if there.size(name) is None:
        return
    held = dict(_whole_records(archive, old_name))
    for key, sha256 in _whole_records(there, name):
        if key not in held or (sha256 is not None and held[key] not in (None, sha256)):
            raise DigestMismatch(
                f"is no generation in the catalogue, and it alone holds records of {old_name} "
                "whole: nothing was changed; `pinakes fsck --full` tells what is damaged",
                file=name,
            )


def _whole_records(archive: ArchiveReader, name: str) -> Iterator[tuple[_Key, bytes | None]]:
    """The records that can be read to their end; the SHA-256 of the body of each full one."""
    with archive.open(name) as file:
        for item in iter_records(Source(file, name=name), digests=("sha256",)):
            if not isinstance(item, Record) or is_tombstone(item.header):
                continue
            if not item.damage:
                sha256 = item.payload_hash("sha256") if item.type in FULL else None
                yield item.header.outline(), sha256

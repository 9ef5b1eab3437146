"""Which bytes of which stored file may be given out, and those bytes.

Names are looked up in the catalogue, and never joined to a path.  A generation that was replaced
is served until it is dropped, so an offset that a client has learnt gives that record until then.

Where access rules are in force, only records are given out, whole or in part: the sidecar knows
where each begins and ends, and whose it is.  A record's bytes in a file may look like the start of
another record; the file alone is not believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import BinaryIO

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import sidecar_rows_at
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.stored_generations import StoredGeneration, find_generation
from pinakes.catalog.withdrawals import rows_still_there
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14, parse_date

from .checked_bytes import CheckedBytes, RecordProofs
from .rules import AccessRules

_LONGEST_NAME = 4096
_MOST_LINE_ENDS = 4


class GenerationDropped(Exception):
    """This generation was replaced and dropped; `current` is the name of the one in its place."""

    def __init__(self, current: str) -> None:
        super().__init__(current)
        self.current = current


class Denied(Exception):
    """Access rules do not let these bytes be given out, or they are not those of one record."""


class Withdrawn(Exception):
    """A record in these bytes was withdrawn, and is still to be replaced."""


class ArchiveBytes:
    """The archive files of a store.  Blocks; safe for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        *,
        rules: AccessRules,
        now: Callable[[], datetime],
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._rules = rules
        self._now = now
        self._proofs = RecordProofs(rows, archive)

    @property
    def gives_records_only(self) -> bool:
        """Whether access rules are in force, so that a file as a whole is not given out."""
        return not self._rules.is_open

    def find(self, name: str) -> StoredGeneration | None:
        """The file of that name, by the catalogue; None if it is unknown or hidden.

        Two round trips.
        """
        if len(name) > _LONGEST_NAME:
            return None
        try:
            return find_generation(self._rows, name)
        except InputRefused:
            return None

    def open(self, file: StoredGeneration, start: int, end: int) -> CheckedBytes:
        """Open it to give out these bytes, which are compared with what is known of them.

        Raises:
            Denied: they may not be given out, or the file was removed in the meantime.
            Withdrawn: a record in them was.
            Dropped: the file is gone, or was put back, and another generation is current.
            DigestMismatch: the current generation is not in the store.
        """
        if not (self._rules.is_open or self.admits(file.name, file.collection, start, end)):
            raise Denied
        if file.dropped:
            raise GenerationDropped(file.current)
        if any(
            row.offset < end and start < row.offset + row.length for row in self._still_there(file)
        ):
            raise Withdrawn
        opened = self._opened(file)
        if (start, end) == (0, file.size):
            return CheckedBytes(opened, start, end, name=file.name, sha256=file.sha256)
        prove = partial(self._proofs.require_sound, file=file, start=start, end=end)
        return CheckedBytes(opened, start, end, name=file.name, prove=prove)

    def _opened(self, file: StoredGeneration) -> BinaryIO:
        try:
            return self._archive.open(file.name)
        except InputRefused as error:
            now = file if not file.is_current else self.find(file.name)
            if now is None:
                raise Denied from error
            if not now.is_current:
                raise GenerationDropped(now.current) from error
            raise DigestMismatch(
                "it is not in the archive store: run fsck", file=file.name
            ) from error

    def _still_there(self, file: StoredGeneration) -> Iterator[SidecarRow]:
        try:
            yield from rows_still_there(self._archive, file.name, file.withdrawing)
        except InputRefused as error:  # without a sidecar their places are unknown
            raise Denied from error

    def admits(self, name: str, collection: str, start: int, end: int) -> bool:
        """Whether these bytes of a stored file are of one record, from its first one on, which the
        rules let be given out.

        Of records that share a gzip member, all must be.  The empty lines after a record that is
        not compressed may be among them: some indexes count them (jwarc's).
        """
        if self._archive.size(sidecar_name(name)) is None:
            return False
        records = sidecar_rows_at(self._archive, name, start)
        return bool(records) and all(
            self._admits_record(crawl_of(name), collection, record)
            and (
                end <= (behind := start + record.length)
                or (end - behind <= _MOST_LINE_ENDS and self._has_line_ends(name, behind, end))
            )
            for record in records
        )

    def _has_line_ends(self, name: str, start: int, end: int) -> bool:
        with self._archive.open(name) as opened:
            opened.seek(start)
            return not opened.read(end - start).strip(b"\r\n")

    def _admits_record(self, crawl: str, collection: str, record: SidecarRow) -> bool:
        """A record without a URI (warcinfo) is decided by crawl and collection; one without a
        date counts as new."""
        now = format_14(self._now())
        date = parse_date(record.date or "")
        return self._rules.admits(
            urlkey=urlkey(record.target_uri) if record.target_uri else "",
            time=format_14(date) if date is not None else now,
            collection=collection,
            crawl=crawl,
            now=now,
        )

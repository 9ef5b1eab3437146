"""Whether a body that stays is still whole without what is to go: read before anything is deleted.

A body may be in full both in a record that goes and in one that stays, which has rotted since; or
revisits that stay may rely on an original that has.  Then what goes is the last whole copy.  Of
each body that is in both, one that stays is read; where none is whole, what goes is read.

    full records that go ─▶ their digests ─▶ records that stay and have these ─▶ one of each is read
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations, stored_names
from pinakes.catalog.file_rows import FileEntry, scan_entries
from pinakes.catalog.payloads import UNSOUND, open_body, open_record
from pinakes.catalog.revisit_targets import FULL
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.validate.stretches import is_damaged
from pinakes.errors import (
    DigestMismatch,
    MalformedRecord,
    PinakesError,
    UnresolvedReference,
)
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record

Goes = Callable[[str, SidecarRow], bool]
"""Whether this record of this archive file is to go."""
_BATCH_ROWS = 500
_MOST_READ = 64
"""So many records that stay are read for one body, at most."""


class _Stays(NamedTuple):
    """Captures that stay and have one body: those in full, and revisits."""

    full: list[bytes]
    revisits: list[bytes]

    def all(self) -> list[bytes]:
        return [*self.full, *self.revisits]

    @property
    def first(self) -> bytes:
        return self.full[0] if self.full else self.revisits[0]


class LastCopies:
    """Looks for them in one pair of stores; reads no capture twice.  Not for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive
        self._read: set[bytes] = set()
        """The captures of which the body was whole."""

    def lost_with(
        self, collection: Collection, entries: Sequence[FileEntry], goes: Goes
    ) -> Iterator[PinakesError]:
        """Of each body that stays, and of which only what goes has a whole copy, an error.

        `entries` are those of the files that records go from; they may be hidden by now.

        Cost: a pass over the collection's sidecars, and one record is read for each body that is
        in full in what goes and that a record which stays has, too.  Memory: a digest for each full
        record that goes, and keys for those bodies.

        Raises:
            MalformedRecord: a sidecar of what stays is damaged.
        """
        bodies, keys = set(), set()
        for _, row in self._going(entries, goes):
            bodies.add(row.sha256)
            if row.row_key is not None:
                keys.add(row.row_key)
        if not bodies:
            return
        staying = self._staying(collection, goes, bodies, keys)
        self._read_firsts(staying)
        lost = {body: stays for body, stays in staying.items() if self._is_damaged(stays)}
        if not lost:
            return
        for name, row in self._going(entries, goes):
            if row.sha256 in lost and self._holds(name, row):
                yield _last_copy(name, row, lost.pop(row.sha256))

    def lost_with_crawl(self, collection: Collection, crawl: str) -> Iterator[PinakesError]:
        """The same of all files of a crawl."""
        entries = [
            entry
            for entry in scan_entries(self._rows, crawl)
            if entry.facts is not None and entry.state is not None and not entry.state.is_gone
        ]
        return self.lost_with(collection, entries, lambda name, row: crawl_of(name) == crawl)

    def _going(self, entries: Sequence[FileEntry], goes: Goes) -> Iterator[tuple[str, SidecarRow]]:
        """The full records that go, of all generations that are there.

        Of a generation that has no readable sidecar nothing is known; what it holds is in others.
        """
        for entry in entries:
            file = entry.archive_file
            for name in stored_names(entry, read_generations(self._rows, file)):
                if any(self._archive.size(one) is None for one in (name, sidecar_name(name))):
                    continue
                with suppress(MalformedRecord):
                    for row in iter_sidecar(self._archive, name):
                        is_full = row.type in FULL and not row.is_replaced
                        if is_full and row.sha256 and row.payload_size and goes(file, row):
                            yield name, row

    def _staying(
        self,
        collection: Collection,
        goes: Goes,
        bodies: Names[bytes | None],
        keys: Names[bytes],
    ) -> dict[bytes, _Stays]:
        """What stays and has these bodies; not those that revisits of these captures have: who
        provides for such a revisit reads the body."""
        found: dict[bytes, _Stays] = {}
        provided = set()
        for name in sorted(collection.entries):
            for row in collection.given_rows(name):
                key, body = row.row_key, row.sha256
                if key is None or body is None or body not in bodies:
                    continue
                if is_tombstone_row(row) or goes(name, row):
                    continue
                if row.is_replaced and row.original_key in keys:
                    provided.add(body)
                stays = found.setdefault(body, _Stays([], []))
                some = stays.revisits if row.is_replaced else stays.full
                if len(some) < _MOST_READ:
                    some.append(key)
        return {body: stays for body, stays in found.items() if body not in provided}

    def _read_firsts(self, staying: Mapping[bytes, _Stays]) -> None:
        """Read the first capture of each body, in the order of files: nearly all are whole."""
        firsts = (
            (stays.first, body) for body, stays in staying.items() if stays.first not in self._read
        )
        with StoredFiles(self._archive, {}) as files:
            while batch := dict(islice(firsts, _BATCH_ROWS)):
                captures = get_captures(self._rows, sorted(batch))
                in_files = sorted(
                    place_captures(self._rows, captures.values()), key=attrgetter("place")
                )
                for placed in in_files:
                    files.add(placed.file)
                    if _has_body(files, placed, batch[placed.capture.key]):
                        self._read.add(placed.capture.key)

    def _is_damaged(self, stays: _Stays) -> bool:
        """Whether the body of none of these captures can be read, and some of them had it until it
        was damaged.

        A revisit whose original is not in the store, as somebody has ordered, had none.
        """
        if not self._read.isdisjoint(stays.all()):
            return False
        captures = get_captures(self._rows, stays.all())
        in_order = (captures[key] for key in stays.all() if key in captures)
        is_damaged = bool(stays.full)
        for placed in islice(place_captures(self._rows, in_order), _MOST_READ):
            try:
                if self._can_be_read(placed):
                    return False
                is_damaged = True
            except UnresolvedReference:
                continue
        return is_damaged

    def _can_be_read(self, placed: Placed) -> bool:
        """Raises UnresolvedReference where it is a revisit without an original."""
        with suppress(*UNSOUND), open_body(self._rows, self._archive, placed):
            self._read.add(placed.capture.key)
            return True
        return False

    def _holds(self, name: str, row: SidecarRow) -> bool:
        """Whether the record at this place has the body that it had when it landed."""
        place = Location(offset=row.offset, length=row.length, inner_offset=row.inner_offset)
        with suppress(*UNSOUND), open_record(self._archive, name, place, raw=True) as record:
            return record.payload_hash("sha256") == row.sha256
        return False


def _has_body(files: StoredFiles, placed: Placed, body: bytes) -> bool:
    """Whether the record at the place of a capture holds this body itself."""
    at = placed.location
    with suppress(*UNSOUND):
        source = files.source(placed.file)
        record = read_record(source, at.offset, inner_offset=at.inner_offset, digests=("sha256",))
        return (
            isinstance(record, Record)
            and record.offset == at.offset
            and record.type in FULL
            and not is_damaged(record)
            and record.payload_hash("sha256") == body
        )
    return False


def _last_copy(name: str, row: SidecarRow, stays: _Stays) -> DigestMismatch:
    first = stays.first.decode("ascii")
    return DigestMismatch(
        f"holds the last whole copy of a body that stays, as that of {first}, where it is damaged: "
        "so this stays; `pinakes fsck --full` says what is damaged",
        file=name,
        offset=row.offset,
    )

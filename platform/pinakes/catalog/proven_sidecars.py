"""Sidecars that were held against the bytes of their files in this run, for acts that take away.

A sidecar says what a file refers to; one that is stale, or of another file, hides that.  So the
head of each record is read where the sidecar says that it is, and these places have to fill the
file: then no record is hidden.  Where that does not come out, all of the file is read, record by
record.  The price for each record: one look, and some kilobytes inflated; bodies are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_keys import encode_mark
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.warc.compression.members import compression_at, first_bytes
from pinakes.warc.header import Header
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .file_records import iter_sidecar, sidecar_of
from .file_rows import FileEntry
from .sidecar import SidecarRow, sidecar_name

_HEADS_BYTES = (1 << 12, 1 << 18)
_LINE_ENDS = b"\r\n"
_GAP_BYTES = 8
_WINDOW_BYTES = 1 << 13


class ProvenSidecars:
    """Rows of stored files, each file proven once."""

    def __init__(self, archive: ArchiveReader) -> None:
        self._archive = archive
        self._proven: set[str] = set()

    def rows(self, name: str) -> Iterator[SidecarRow]:
        """The rows of a stored file's sidecar, which is of this file.

        Raises:
            DigestMismatch: it is not, or cannot be read.
        """
        if name not in self._proven:
            self._prove(name)
            self._proven.add(name)
        return iter_sidecar(self._archive, name)

    def rows_of_leaving(self, entry: FileEntry, names: Sequence[str]) -> Iterator[SidecarRow]:
        """The rows of a file that is to go, by what is there of its generations, as `names` has
        them: it may be damaged.  Then the sidecar has as many rows as records have landed.

        Raises:
            DigestMismatch: no sidecar lists all records that landed.
        """
        there = [name for name in names if self._archive.size(sidecar_name(name)) is not None]
        for name in there:
            try:
                return self.rows(name)
            except DigestMismatch:
                continue
        landed = sum(entry.facts.records.values()) if entry.facts is not None else 0
        for name in there:
            try:
                count = sum(1 for _ in iter_sidecar(self._archive, name))
                if count == landed and self._is_own(name):
                    return iter_sidecar(self._archive, name)
            except MalformedRecord:
                continue
        raise _unproven(entry.stored_name, "no sidecar has all its records")

    def _is_own(self, name: str) -> bool:
        """Whether a sidecar says that it is this file's; of an older version its row keys do.

        A file and its sidecar may both be in the place of another's.
        """
        of = sidecar_of(self._archive, name)
        if of is not None:
            return of.file == name
        archive_file = generation_of(name).archive_file
        rows = (row for row in iter_sidecar(self._archive, name) if row.row_key is not None)
        first = next(rows, None)
        return first is None or (first.row_key or b"").endswith(
            b" " + encode_mark(archive_file, first.ordinal)
        )

    def _prove(self, name: str) -> None:
        if self._archive.size(sidecar_name(name)) is None:
            raise _unproven(name, "its sidecar is missing")
        try:
            if not self._is_own(name):
                raise _unproven(name, "its sidecar is that of another file")
            with self._archive.open(name) as file:
                source = Source(file, name=name, window_bytes=_WINDOW_BYTES)
                if _fill(source, iter_sidecar(self._archive, name)):
                    return
                _require_records(source, iter_sidecar(self._archive, name))
        except (InputRefused, MalformedRecord) as problem:
            raise _unproven(name, problem.message) from problem


def _unproven(name: str, why: str, offset: int | None = None) -> DigestMismatch:
    return DigestMismatch(
        f"what it refers to is not known for sure ({why}), and nothing is deleted: "
        "`pinakes fsck --full --repair` mends that; a file that is damaged itself is put back from "
        "a copy, or accepted by `--accept`; of one that is missing the crawl can be taken out",
        file=name,
        offset=offset,
    )


def _fill(source: Source, rows: Iterator[SidecarRow]) -> bool:
    """Whether these are heads of the file's records, each alone in its place, and fill the file."""
    at = 0
    for offset, group in groupby(rows, key=attrgetter("offset")):
        row, *others = group
        header = _header_at(source, offset)
        is_alone = not others and not row.inner_offset
        if not is_alone or header is None or not _is_between(source, at, offset):
            return False
        if not _are_one(row, header.record_type, header) or not _is_all(source, row, header):
            return False
        at = offset + row.length
    return _is_between(source, at, source.size)


def _is_between(source: Source, at: int, offset: int) -> bool:
    """Whether nothing but line ends is between two records."""
    size = offset - at
    return 0 <= size <= _GAP_BYTES and not bytes(source.view(at, size)).strip(_LINE_ENDS)


def _header_at(source: Source, offset: int) -> Header | None:
    is_compressed = compression_at(source, offset) is not None
    for count in _HEADS_BYTES:
        text = first_bytes(source, offset, count) if is_compressed else source.view(offset, count)
        head, end, _ = bytes(text).partition(RECORD_END)
        if end:
            return Header(head + end) if head.startswith(b"WARC/") else None
    return None


def _is_all(source: Source, row: SidecarRow, header: Header) -> bool:
    """Whether a gzip member ends in its place, and holds nothing else, by its own count of bytes
    (RFC 1952 §2.3.1); of other forms it is taken for that."""
    if bytes(source.view(row.offset, 2)) != b"\x1f\x8b":
        return True
    length = header.get("Content-Length") or ""
    if not length.isascii() or not length.isdigit():
        return False
    size = len(header.raw) + int(length) + len(RECORD_END)
    counted = bytes(source.view(row.offset + row.length - 4, 4))
    return int.from_bytes(counted, "little") == size & 0xFFFFFFFF


def _are_one(row: SidecarRow, record_type: str, header: Header) -> bool:
    """Whether a row is that of the record with this header, and of what it refers to."""
    if (row.target_uri, row.date, row.record_id) != header.outline():
        return False
    if record_type != ("revisit" if row.is_replaced else row.type):
        return False
    if record_type != "revisit":
        return True
    return (row.refers_uri, row.refers_date, row.refers_id) == header.refers_to()


def _require_records(source: Source, rows: Iterator[SidecarRow]) -> None:
    """Raise DigestMismatch unless the file's records are those of the rows."""
    records = (item for item in iter_records(source, digests=()) if isinstance(item, Record))
    for row, record in zip_longest(rows, records):
        offset = record.offset if record is not None else None
        if row is None or record is None:
            raise _unproven(source.name, "its sidecar has other records", offset)
        place = record.offset, record.length, record.inner_offset
        if (row.offset, row.length, row.inner_offset) != place or not _are_one(
            row, record.type, record.header
        ):
            raise _unproven(source.name, "its sidecar has another record here", offset)

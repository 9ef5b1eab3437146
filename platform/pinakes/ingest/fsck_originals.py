"""Whether the originals of revisits of ours are what the sidecar says; else their bytes tell.

The row of an original says what its record is, and is compared with its own file.  Where row and
sidecar differ, the original is read, or looked for by what the revisit names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import COLUMNS as CAPTURE_COLUMNS
from pinakes.catalog.captures import (
    TABLE,
    Capture,
    Placed,
    place_captures,
    readable_capture,
    readable_captures,
)
from pinakes.catalog.declared import sha1_text
from pinakes.catalog.sidecar import SidecarRow
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.capture_keys import captures_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_17, parse_date
from pinakes.warc.digest import format_digest
from pinakes.warc.reader import read_record
from pinakes.warc.record import UNREADABLE, Record
from pinakes.warc.source import Source

from .fsck_records import ReadRow

_MOST_OF_SECOND = 100


class OriginalCheck:
    """Compares revisits of ours with their originals."""

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive

    def settled(self, batch: Sequence[ReadRow]) -> list[ReadRow]:
        """These rows, with what their originals' bytes say where sidecar and row differ."""
        ours = [read for read in batch if read.run is not None]
        own = {read.row.row_key for read in ours if read.row.row_key is not None}
        marks = {
            key: capture.dedupe.refers_to_key.encode("ascii", "replace")
            for key, capture in readable_captures(self._rows, sorted(own)).items()
            if capture.dedupe is not None and capture.dedupe.refers_to_key is not None
        }
        keys = {read.row.original_key for read in ours if read.row.original_key is not None}
        known = readable_captures(self._rows, sorted(keys.union(marks.values())))
        return [self._settled(read, marks, known) for read in batch]

    def _settled(
        self, read: ReadRow, marks: Mapping[bytes, bytes], known: Mapping[bytes, Capture]
    ) -> ReadRow:
        """`marks` are the row keys of originals by the rows of their revisits."""
        if read.run is None:
            return read
        said, mark = read.row.original_key or b"", marks.get(read.row.row_key or b"", b"")
        if said in known and _fits(read.row, known[said].facts):
            return read
        is_gone = said not in known and said == mark
        candidates = [known[key] for key in dict.fromkeys((said, mark)) if key in known]
        for placed in place_captures(self._rows, [*candidates, *self._named(read.row)]):
            digests = self._read(read.row, placed)
            # What has come in the place of one that is gone must be that record to the byte.
            if digests is not None and not (is_gone and _differs(read.row, digests)):
                return read.with_row(original_key=placed.capture.key, **digests)
        return read

    def _named(self, row: SidecarRow) -> Iterator[Capture]:
        """Captures of the URI and second that a revisit names."""
        date = parse_date(row.refers_date or "")
        if not row.refers_uri or date is None:
            return
        second = format_17(date)[:14]
        found = captures_of(
            urlkey(row.refers_uri), start_time=second, stop_time=f"{int(second) + 1:014d}"
        )
        rows = self._rows.scan(TABLE, found, columns=CAPTURE_COLUMNS, limit_rows=_MOST_OF_SECOND)
        for one in rows:
            capture = readable_capture(one)
            if capture is not None and not capture.is_duplicate:
                yield capture

    def _read(self, row: SidecarRow, placed: Placed) -> dict[str, Any] | None:
        """The digests of the record there, if it is what the revisit refers to."""
        place = placed.location
        try:
            with self._archive.open(placed.file) as file:
                record = read_record(
                    Source(file, name=placed.file),
                    place.offset,
                    inner_offset=place.inner_offset,
                    digests=("sha1", "sha256"),
                )
                if isinstance(record, Record) and _is_meant(row, record):
                    return _digests(row, record)
        except (PinakesError, OSError):
            pass  # what is wrong with it its own file tells
        return None


def _fits(row: SidecarRow, facts: CaptureFacts) -> bool:
    named = (facts.target_uri, facts.date, facts.record_id)
    if named != (row.refers_uri, row.refers_date, row.refers_id):
        return False
    if facts.payload_size != row.payload_size or row.sha1 is None or row.sha256 is None:
        return False
    pairs = [
        (facts.payload_sha1, sha1_text(row.sha1)),
        (facts.payload_sha256, format_digest("sha256", row.sha256)),
    ]
    # Of a head that does not speak of chunks, nothing is de-chunked.
    if row.dechunked_sha1 is not None and facts.dechunked_sha1 is not None:
        pairs.append((facts.dechunked_sha1, sha1_text(row.dechunked_sha1)))
    if row.dechunked_sha256 is not None and facts.dechunked_sha256 is not None:
        pairs.append((facts.dechunked_sha256, format_digest("sha256", row.dechunked_sha256)))
    return all(one == other for one, other in pairs)


def _differs(row: SidecarRow, digests: Mapping[str, Any]) -> bool:
    return row.sha256 is None or digests["sha256"] != row.sha256


def _is_meant(row: SidecarRow, record: Record) -> bool:
    named = (row.refers_uri, row.refers_date, row.refers_id)
    if any(finding.code in UNREADABLE for finding in record.findings):
        return False  # what decodes of it is not what the revisit stands for
    is_named = record.type != "revisit" and record.header.outline() == named
    return is_named and record.payload_size == row.payload_size


def _digests(row: SidecarRow, record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {
        "sha1": record.payload_hash("sha1"),
        "sha256": record.payload_hash("sha256"),
    }
    for algorithm in ("sha1", "sha256"):
        name = f"dechunked_{algorithm}"
        chunked = record.dechunked_digest(algorithm)
        if chunked is not None and getattr(row, name) is not None:
            found[name] = chunked.value
    return found

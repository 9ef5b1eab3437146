"""Whether the originals of revisits of ours are what the sidecar says; else their bytes decide.

The row of an original says what its record is, and is compared with its own file.  Where row and
sidecar differ, the original is read, or looked for by what the revisit names.  Nothing is taken
from one with which the revisit does not give back the record that it replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import COLUMNS as CAPTURE_COLUMNS
from pinakes.catalog.captures import (
    TABLE,
    CaptureRow,
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
from pinakes.warc.digest import format_digest, parse_digest
from pinakes.warc.reader import read_record
from pinakes.warc.rebuilding import proven_ours
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .records import ReadRow

_MOST_OF_SECOND = 100


class _Original(NamedTuple):
    """The record that a revisit names; `digests` of its body, None where it is another one."""

    digests: dict[str, Any] | None


class OriginalCheck:
    """Compares the revisits of ours in one stored file with their originals."""

    def __init__(self, rows: RowStore, archive: ArchiveReader, file: str) -> None:
        self._rows = rows
        self._archive = archive
        self._file = file

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
        self, read: ReadRow, marks: Mapping[bytes, bytes], known: Mapping[bytes, CaptureRow]
    ) -> ReadRow:
        """`marks` are the row keys of originals by the rows of their revisits."""
        if read.run is None:
            return read
        said, mark = read.row.original_key or b"", marks.get(read.row.row_key or b"", b"")
        if said in known and not _is_doubtful(read.row, known[said].facts):
            return read
        is_gone = said not in known and said == mark
        candidates = [known[key] for key in dict.fromkeys((said, mark)) if key in known]
        for placed in place_captures(self._rows, [*candidates, *self._named(read.row)]):
            original = self._read(read.row, placed)
            digests = original.digests if original is not None else None
            # What has come in the place of one that is gone must be that record to the byte.
            if digests is not None and not (is_gone and _differs(read.row, digests)):
                return read.with_row(original_key=placed.capture.key, **digests)
        return read

    def has_other_body(self, row: SidecarRow, original: CaptureRow) -> bool:
        """Whether what a revisit of ours refers to has not the body that it stands for.

        Reads both records where the rows give cause to doubt it.
        """
        if not _is_doubtful(row, original.facts):
            return False
        found = (self._read(row, placed) for placed in place_captures(self._rows, [original]))
        return any(one is not None and one.digests is None for one in found)

    def _named(self, row: SidecarRow) -> Iterator[CaptureRow]:
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

    def _read(self, row: SidecarRow, placed: Placed) -> _Original | None:
        """What the revisit refers to, if it is there."""
        place = placed.location
        try:
            with self._archive.open(placed.file) as file:
                record = read_record(
                    Source(file, name=placed.file),
                    place.offset,
                    inner_offset=place.inner_offset,
                    digests=("sha1", "sha256"),
                )
                if not isinstance(record, Record) or not _is_meant(row, record):
                    return None
                return _Original(_digests(row, record) if self._is_proven(row, record) else None)
        except (PinakesError, OSError):
            return None  # the check of its own file reports what is wrong with it

    def _is_proven(self, row: SidecarRow, original: Record) -> bool:
        """Whether the revisit gives back what it replaced with this body."""
        with self._archive.open(self._file) as file:
            source = Source(file, name=self._file)
            revisit = read_record(source, row.offset, inner_offset=row.inner_offset, digests=())
            return isinstance(revisit, Record) and proven_ours(revisit, original) is not None


def _is_doubtful(row: SidecarRow, facts: CaptureFacts) -> bool:
    """Whether the rows of a revisit and of its original leave open that their bodies are one."""
    return not _fits(row, facts) or _is_unlike_declared(row)


def _is_unlike_declared(row: SidecarRow) -> bool:
    """Whether its digests are not the one that was found right when it landed.

    Older versions took those of an original that had another body.
    """
    declared = parse_digest(row.declared or "")
    if row.verified_over not in ("stored", "dechunked") or declared is None:
        return False
    of_body = {
        "sha1": (row.sha1, row.dechunked_sha1),
        "sha256": (row.sha256, row.dechunked_sha256),
    }
    return declared.value not in of_body.get(declared.algorithm, (declared.value,))


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
    if record.damage:
        return False  # what decodes of it is not what the revisit stands for
    return record.type != "revisit" and record.header.outline() == named


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

"""What a run has decided about the records of one file, on the way into its new generation."""

from __future__ import annotations

from collections.abc import Container

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.manifest import ManifestLine
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours

Pair = tuple[ManifestLine, bytes]
"""A decided line, and the row key of its original."""
Decided = dict[int, Pair]
"""By the record's ordinal."""


def decided_by_ordinal(
    archive: ArchiveReader, stored_file: str, pairs: list[Pair]
) -> Decided | None:
    """The decisions by ordinal; None where the places are those of another generation."""
    by_place = {(line.offset, line.inner_offset): (line, key) for line, key in pairs}
    result: Decided = {}
    for row in iter_sidecar(archive, stored_file):
        pair = by_place.get((row.offset, row.inner_offset))
        if (
            pair is not None
            and (pair[0].target_uri, pair[0].date) == (row.target_uri, row.date)
            and not row.is_replaced
        ):
            result[row.ordinal] = pair
    return result if len(result) == len(pairs) else None


def annotate(decided: Decided, row: SidecarRow, record: Record) -> SidecarRow:
    """Note in the row of a record that became a revisit what it refers to."""
    line, key = decided.get(row.ordinal, (None, None))
    if line is None or record.type != "revisit" or not is_ours(record.header):
        return row
    uri, date, record_id = record.header.refers_to()
    return row._replace(
        hash_extension=line.hash_extension,
        copy_number=line.copy_number,
        original_key=key,
        refers_uri=uri,
        refers_date=date,
        refers_id=record_id,
    )


def marks_of(decided: Container[int], run: str, row: SidecarRow) -> dict[bytes, bytes]:
    """The cells of a record that became a revisit by these decisions."""
    mark = mark_of(row, run) if row.ordinal in decided else None
    return {DedupeMark.COLUMN: encode_cell(mark)} if mark is not None else {}


def newly_replaced(archive: ArchiveReader, old_file: str, new_file: str) -> set[int]:
    """The ordinals of the records that are revisits in a new generation, and were not in the old.

    Memory: a number for each revisit.
    """

    def replaced(stored_file: str) -> set[int]:
        return {row.ordinal for row in iter_sidecar(archive, stored_file) if row.is_replaced}

    return replaced(new_file) - replaced(old_file)

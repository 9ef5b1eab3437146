"""Sidecar rows of a later generation, made again: places from its bytes, the rest from rows.

A record that has become a revisit has lost the body that its row describes; the catalogue has
the record as landed, and the decision on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from itertools import islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest
from pinakes.warc.field_names import CONTENT_LENGTH_KEY
from pinakes.warc.header import Header
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours, restore_header
from pinakes.warc.source import Source
from pinakes.warc.tombstone import is_tombstone

from .captures import CaptureRow, get_captures
from .record_rows import row_key_of
from .requests import iter_rows
from .sidecar import SidecarRow
from .withdrawals import as_tombstone_row, is_tombstone_row

_BATCH_ROWS = 500


def read_generation_rows(
    store: RowStore, archive: ArchiveReader, archive_file: str, name: str, *, act_time_ms: int
) -> Iterator[SidecarRow]:
    """The rows of the generation stored as `name`, as the run that wrote it made them.

    `act_time_ms` is the time of the file's landing.

    Raises:
        InputRefused: a record was replaced, and its row is missing.
    """
    landed = datetime.fromtimestamp(act_time_ms / 1000, timezone.utc)
    sizes: dict[int, int] = {}
    stones: set[int] = set()

    def records(source: Source) -> Iterator[Record]:
        for item in iter_records(source, digests=("sha1", "sha256")):
            if isinstance(item, Record):
                if item.type == "revisit" and is_ours(item.header):
                    old = Header(restore_header(item.header)).field(CONTENT_LENGTH_KEY)
                    sizes[item.ordinal] = int(old or 0)
                elif is_tombstone(item.header):
                    stones.add(item.ordinal)
                yield item

    with archive.open(name) as file:
        rows = iter_rows(records(Source(file, name=name)), archive_file=archive_file, landed=landed)
        while batch := list(islice(rows, _BATCH_ROWS)):
            batch = [_keyed(row, archive_file) if row.ordinal in stones else row for row in batch]
            known = get_captures(store, [row.row_key for row in batch if row.row_key is not None])
            for row in batch:
                size = sizes.pop(row.ordinal, None)
                capture = known.get(row.row_key or b"")
                if is_tombstone_row(row):
                    yield _as_withdrawn(row, capture)
                elif capture is not None:
                    yield _as_known(row, capture, size)
                elif size is None:
                    yield row
                else:
                    raise InputRefused(
                        f"the record at {row.offset} was replaced, and its row in the catalogue "
                        "is missing: restore the sidecar from a copy",
                        file=name,
                    )


def _keyed(row: SidecarRow, archive_file: str) -> SidecarRow:
    """The row of a tombstone, with the key that the record's row has if it was a capture.

    That of the answer to a POST is not found again: what was posted is gone with its request.
    """
    uri = row.target_uri
    key = row_key_of(uri, row.date, archive_file, row.ordinal) if uri else None
    return as_tombstone_row(row._replace(row_key=key))


def _as_withdrawn(row: SidecarRow, capture: CaptureRow | None) -> SidecarRow:
    if capture is None or capture.withdrawal is None:
        return row._replace(row_key=None)
    return as_tombstone_row(_as_known(row, capture, None))


def _as_known(row: SidecarRow, capture: CaptureRow, replaced_size: int | None) -> SidecarRow:
    """The row with what the catalogue has on the record as landed, and on the decision.

    `replaced_size` is the original Content-Length, if the record is a revisit of ours.
    """
    facts, mark = capture.facts, capture.dedupe
    row = row._replace(
        type=facts.type,
        status=facts.status,
        method=facts.method,
        media_type=facts.media_type,
        payload_size=facts.payload_size,
        sha1=_bytes_of(facts.payload_sha1),
        sha256=_bytes_of(facts.payload_sha256),
        dechunked_sha1=_bytes_of(facts.dechunked_sha1),
        dechunked_sha256=_bytes_of(facts.dechunked_sha256),
        declared=facts.declared_digest,
        verified_over=facts.declared_over,
        skip=facts.skip,
        findings=" ".join(facts.findings) or None,
        refers_uri=facts.refers_to_target_uri,
        refers_date=facts.refers_to_date,
        refers_id=facts.refers_to_id,
    )
    was_full = facts.type != "revisit"
    # A mark may belong to a generation that is not current yet.
    if mark is None or (replaced_size is not None and was_full) != (mark.copy_number > 1):
        return row
    row = row._replace(hash_extension=mark.hash_extension, copy_number=mark.copy_number)
    if replaced_size is None:
        return row
    return row._replace(
        content_length=replaced_size,
        original_key=mark.refers_to_key.encode("ascii") if mark.refers_to_key else None,
        refers_uri=mark.refers_to_target_uri,
        refers_date=mark.refers_to_date,
        refers_id=mark.refers_to_id,
    )


def without_decision(row: SidecarRow) -> SidecarRow:
    """The row of a record that was replaced, as its landing wrote it, but for its place."""
    return row._replace(
        hash_extension=None,
        copy_number=None,
        original_key=None,
        refers_uri=None,
        refers_date=None,
        refers_id=None,
    )


def mark_of(row: SidecarRow, run: str) -> DedupeMark | None:
    """The dedupe mark in a capture's row for the decision on it; None without a decision."""
    if row.copy_number is None:
        return None
    return DedupeMark(
        run=run,
        hash_extension=row.hash_extension or 0,
        copy_number=row.copy_number,
        refers_to_key=row.original_key.decode("ascii") if row.original_key else None,
        refers_to_target_uri=row.refers_uri if row.is_replaced else None,
        refers_to_date=row.refers_date if row.is_replaced else None,
        refers_to_id=row.refers_id if row.is_replaced else None,
    )


def is_same_decision(mark: DedupeMark | None, wanted: DedupeMark | None) -> bool:
    """Whether two marks agree; their runs may differ, as in a later generation."""
    if mark is None or wanted is None:
        return mark is wanted
    return replace(mark, run="") == replace(wanted, run="")


def _bytes_of(digest: str | None) -> bytes | None:
    parsed = parse_digest(digest) if digest is not None else None
    return parsed.value if parsed is not None else None

"""What the catalogue keeps of a record: its sidecar row, and from that its cells.

Pure: a record goes in, rows and cells come out.  Two digests of our own per payload,
over the stored body and, where the body really is chunked, over the de-chunked one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry, Location
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, encode_capture_key
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.digest_keys import DigestKey, encode_digest_key
from pinakes.index.scan import CAPTURE_TYPES, why_not
from pinakes.index.urlkey import urlkey
from pinakes.warc.dates import format_14, format_17, parse_date
from pinakes.warc.digest import Digest
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record

from .declared import verified_over
from .sidecar import SidecarRow

FIRST_GENERATION = 1
Cells = dict[bytes, bytes]


def sidecar_row(record: Record, *, archive_file: str, landed: datetime) -> SidecarRow:
    """The row of one record, its request not considered yet (see `requests`)."""
    if record.type in CAPTURE_TYPES:
        return _capture_row(record, archive_file, landed)
    http = record.http if record.type == "request" else None
    return _row(record, method=http.method if http is not None else None)


def _capture_row(record: Record, archive_file: str, landed: datetime) -> SidecarRow:
    header = record.header
    http = record.http
    status = http.status if http is not None else None
    size = record.payload_size
    uri = record.target_uri
    row = _row(
        record,
        status=status,
        media_type=http.media_type if http is not None else header.field("content-type"),
        payload_size=size,
        declared=header.field("warc-payload-digest"),
        skip=why_not(record, now=landed),
        row_key=_row_key(record, archive_file) if uri else None,
    )
    if record.type == "revisit":
        return row._replace(
            refers_uri=strip_brackets(header.field("warc-refers-to-target-uri")),
            refers_date=header.field("warc-refers-to-date"),
            refers_id=strip_brackets(header.field("warc-refers-to")),
            verified_over=None,
        )
    sha1, sha256 = record.payload_digest("sha1"), record.payload_digest("sha256")
    dechunked = _dechunked(record) if http is not None and http.says_chunked else (None, None)
    return row._replace(
        sha1=sha1.value,
        sha256=sha256.value,
        dechunked_sha1=dechunked[0],
        dechunked_sha256=dechunked[1],
        verified_over=verified_over(record, sha1),
    )


def _dechunked(record: Record) -> tuple[bytes | None, bytes | None]:
    sha1 = record.dechunked_digest("sha1")
    sha256 = record.dechunked_digest("sha256") if sha1 is not None else None
    return (sha1.value if sha1 else None, sha256.value if sha256 else None)


def _row_key(record: Record, archive_file: str) -> bytes:
    moment = parse_date(record.date or "")
    time = format_17(moment) if moment is not None else UNREADABLE_TIME
    return encode_capture_key(urlkey(record.target_uri or ""), time, archive_file, record.ordinal)


def _row(
    record: Record,
    *,
    row_key: bytes | None = None,
    status: int | None = None,
    method: str | None = None,
    media_type: str | None = None,
    payload_size: int | None = None,
    declared: str | None = None,
    skip: str | None = None,
) -> SidecarRow:
    header = record.header
    return SidecarRow(
        ordinal=record.ordinal,
        row_key=row_key,
        type=record.type,
        record_id=record.record_id,
        target_uri=record.target_uri,
        date=record.date,
        status=status,
        method=method,
        media_type=media_type,
        offset=record.offset,
        length=record.length,
        inner_offset=record.inner_offset,
        content_length=record.content_length,
        payload_size=payload_size,
        sha1=None,
        sha256=None,
        dechunked_sha1=None,
        dechunked_sha256=None,
        declared=declared,
        verified_over=None,
        skip=skip,
        findings=" ".join(f.code for f in record.findings) or None,
        refers_uri=None,
        refers_date=None,
        refers_id=None,
        concurrent_to=strip_brackets(header.field("warc-concurrent-to")),
    )


def capture_cells(row: SidecarRow, archive_file: str) -> Cells:
    """The cells of a capture's row in `captures`, by column."""
    facts = CaptureFacts(
        type=row.type,
        target_uri=row.target_uri or "",
        date=row.date or "",
        archive_file=archive_file,
        ordinal=row.ordinal,
        record_id=row.record_id,
        media_type=row.media_type,
        status=row.status,
        method=row.method,
        payload_sha1=_labelled("sha1", row.sha1),
        payload_sha256=_labelled("sha256", row.sha256),
        payload_size=row.payload_size,
        dechunked_sha1=_labelled("sha1", row.dechunked_sha1),
        dechunked_sha256=_labelled("sha256", row.dechunked_sha256),
        declared_digest=row.declared,
        declared_over=row.verified_over,
        skip=row.skip,
        refers_to_target_uri=row.refers_uri,
        refers_to_date=row.refers_date,
        refers_to_id=row.refers_id,
        findings=tuple((row.findings or "").split()),
    )
    return {
        CaptureFacts.COLUMN: encode_cell(facts),
        numbered_column(Location, FIRST_GENERATION): encode_cell(location_of(row)),
    }


def location_of(row: SidecarRow) -> Location:
    """Where the record lies in the sidecar's generation."""
    return Location(offset=row.offset, length=row.length, inner_offset=row.inner_offset)


def _labelled(algorithm: str, value: bytes | None) -> str | None:
    return str(Digest(algorithm, value)) if value is not None else None


def digest_rows(row: SidecarRow, archive_file: str, scope: str) -> Iterator[tuple[bytes, Cells]]:
    """The rows in `digests` by which a capture is found: both digests, both framings."""
    if not row.payload_size or row.row_key is None:
        return
    moment = parse_date(row.date or "")
    second = format_14(moment) if moment is not None else UNREADABLE_TIME[:14]
    key = row.row_key.decode("ascii")
    for body, algorithm, value in (
        ("stored", "sha1", row.sha1),
        ("stored", "sha256", row.sha256),
        ("dechunked", "sha1", row.dechunked_sha1),
        ("dechunked", "sha256", row.dechunked_sha256),
    ):
        if value is not None:
            digest_key = DigestKey(
                scope, algorithm, value.hex(), row.payload_size, second, archive_file, row.ordinal
            )
            entry = DigestEntry(capture_key=key, body=body)
            yield encode_digest_key(digest_key), {DigestEntry.COLUMN: encode_cell(entry)}

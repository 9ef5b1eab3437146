"""What the catalogue stores for a record: its sidecar row, and cells made from that.

Pure: a record goes in, rows and cells come out.  Two digests of our own per payload, over the
stored body and, if the body really is chunked, over the de-chunked one.

This is the inner loop of landing, which may take three times as long as inflating and hashing
(docs/ingest.md): rows are built once, by position, and cells without their dataclasses.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from pinakes.hbase_schema.capture_cells import (
    FIRST_GENERATION,
    REVISIT_MIME,
    CaptureFacts,
    DigestEntry,
    Location,
    cdx_digest,
)
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, encode_capture_key, encode_urlkey
from pinakes.hbase_schema.cells import encode_fields
from pinakes.hbase_schema.digest_keys import (
    NO_SECOND,
    REFERS_TO_ID,
    REFERS_TO_URLKEY,
    encode_digest_keys,
    encode_reference_key,
)
from pinakes.index.scan import CAPTURE_TYPES, why_not
from pinakes.index.urlkey import urlkey
from pinakes.warc.dates import format_14, format_17, parse_date
from pinakes.warc.digest import format_digest
from pinakes.warc.field_names import (
    CONTENT_TYPE_KEY,
    WARC_CONCURRENT_TO_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_SEGMENT_NUMBER_KEY,
    WARC_TRUNCATED_KEY,
)
from pinakes.warc.header import strip_brackets
from pinakes.warc.http.message import HttpHead
from pinakes.warc.record import MemoryBody, Record

from .declared import sha1_text, verified_over
from .sidecar import SidecarRow

Cells = dict[bytes, bytes]
_FIRST_WEB_ARCHIVE_YEAR = 1991


class _Moment(NamedTuple):
    """A capture date as written, and its parsed values; zeros if it is unreadable."""

    parsed: datetime | None
    time_17: str
    second_14: str


@lru_cache(maxsize=4096)
def _moment(date: str) -> _Moment:
    parsed = parse_date(date)
    if parsed is None:
        return _Moment(None, UNREADABLE_TIME, UNREADABLE_TIME[:14])
    return _Moment(parsed, format_17(parsed), format_14(parsed))


def sidecar_row(record: Record, *, archive_file: str, landed: datetime) -> SidecarRow:
    """The row of one record, before its request is considered (see `requests`)."""
    if record.type in CAPTURE_TYPES:
        return _capture_row(record, archive_file, landed)
    uri, date, record_id = record.header.outline()
    return SidecarRow(
        record.ordinal,
        None,  # row_key
        record.type,
        record_id,
        uri,
        date,
        None,  # status
        method_of(record) if record.type == "request" else None,
        None,  # media_type
        record.offset,
        record.length,
        record.inner_offset,
        record.content_length,
        None,  # payload_size
        None,  # sha1
        None,  # sha256
        None,  # dechunked_sha1
        None,  # dechunked_sha256
        None,  # declared
        None,  # verified_over
        None,  # skip
        _findings(record),
        None,  # refers_uri
        None,  # refers_date
        None,  # refers_id
        strip_brackets(record.header.field(WARC_CONCURRENT_TO_KEY)),
    )


def _capture_row(record: Record, archive_file: str, landed: datetime) -> SidecarRow:
    field = record.header.field
    http = record.http
    uri, date, record_id = record.header.outline()
    size = record.payload_size
    fit = is_plainly_fit(record, http, uri, date, size, landed)
    revisit = record.type == "revisit"
    sha1 = sha256 = dechunked_sha1 = dechunked_sha256 = over = None
    refers_uri = refers_date = refers_id = None
    if revisit:
        refers_uri, refers_date, refers_id = record.header.refers_to()
    else:
        sha1, sha256 = record.payload_hash("sha1"), record.payload_hash("sha256")
        if not fit and http is not None and http.says_chunked:
            dechunked_sha1, dechunked_sha256 = _dechunked(record)
        over = verified_over(record, sha1)
    return SidecarRow(
        record.ordinal,
        row_key_of(uri, date, archive_file, record.ordinal) if uri else None,
        record.type,
        record_id,
        uri,
        date,
        200 if fit else http.status if http is not None else None,
        None,  # method: see `requests`
        http.media_type if http is not None else field(CONTENT_TYPE_KEY),
        record.offset,
        record.length,
        record.inner_offset,
        record.content_length,
        size,
        sha1,
        sha256,
        dechunked_sha1,
        dechunked_sha256,
        field(WARC_PAYLOAD_DIGEST_KEY),
        over,
        None if fit else why_not(record, now=landed),
        None if fit else _findings(record),
        refers_uri,
        refers_date,
        refers_id,
        strip_brackets(field(WARC_CONCURRENT_TO_KEY)),
    )


def is_plainly_fit(
    record: Record,
    http: HttpHead | None,
    uri: str | None,
    date: str | None,
    size: int,
    landed: datetime,
) -> bool:
    """A quick check that `why_not` would return None, with status 200 and no findings.

    True is certain; False is not.
    """
    if http is None or not size or record.type != "response" or record.findings:
        return False
    if uri is None or uri[:7] not in ("http://", "https:/") or date is None:
        return False
    moment = _moment(date).parsed
    if moment is None or moment.year < _FIRST_WEB_ARCHIVE_YEAR or moment > landed:
        return False
    field = record.header.field
    return (
        http.is_plainly_whole(size)
        and field(WARC_TRUNCATED_KEY) is None
        and field(WARC_SEGMENT_NUMBER_KEY) is None
        and record.version[:4] == "WARC"
    )


def method_of(request: Record) -> str | None:
    """`request.http.method`, without searching the end of the head if it is GET."""
    body = request.body
    if isinstance(body, MemoryBody) and body.data[body.start : body.start + 4] == b"GET ":
        return "GET" if request.holds_http else None
    http = request.http
    return http.method if http is not None else None


def _findings(record: Record) -> str | None:
    return " ".join(finding.code for finding in record.findings) or None


def _dechunked(record: Record) -> tuple[bytes | None, bytes | None]:
    sha1 = record.dechunked_digest("sha1")
    sha256 = record.dechunked_digest("sha256") if sha1 is not None else None
    return (sha1.value if sha1 else None, sha256.value if sha256 else None)


def row_key_of(uri: str, date: str | None, archive_file: str, ordinal: int) -> bytes:
    """The row key of a capture; the date as written."""
    return encode_capture_key(urlkey(uri), _moment(date or "").time_17, archive_file, ordinal)


def capture_cells(
    row: SidecarRow, archive_file: str, *, generation: int = FIRST_GENERATION
) -> Cells:
    """The cells of a capture's row in `captures`, by column, from a sidecar of this generation.

    A location in a later generation is a cell of its own, and not among them.
    """
    revisit = row.type == "revisit"
    digest = _sha1(row.sha1) or row.declared
    is_first = generation == FIRST_GENERATION
    facts = (
        row.target_uri or "",
        REVISIT_MIME if revisit else row.media_type,
        row.status,
        cdx_digest(digest) if digest is not None else None,
        row.length if is_first else None,
        row.offset if is_first else None,
        archive_file,
        row.type,
        row.date or "",
        row.ordinal,
        row.inner_offset if is_first else 0,
        row.record_id,
        row.media_type if revisit else None,
        row.method,
        _sha256(row.sha256),
        row.payload_size,
        _sha1(row.dechunked_sha1),
        _sha256(row.dechunked_sha256),
        row.declared,
        row.verified_over,
        row.skip,
        None,  # profile
        row.refers_uri,
        row.refers_date,
        row.refers_id,
        tuple(row.findings.split()) if row.findings else (),
    )
    return {CaptureFacts.COLUMN: encode_fields(CaptureFacts, facts)}


def location_of(row: SidecarRow, ending: str | None) -> Location:
    """The location of the record in the sidecar's generation, whose ending is this."""
    return Location(
        offset=row.offset, length=row.length, inner_offset=row.inner_offset, ending=ending
    )


def _sha1(value: bytes | None) -> str | None:
    return sha1_text(value) if value is not None else None


def _sha256(value: bytes | None) -> str | None:
    return format_digest("sha256", value) if value is not None else None


def digest_rows(row: SidecarRow, archive_file: str, scope: str) -> Iterator[tuple[bytes, Cells]]:
    """The rows in `digests` by which a capture is found: both digests, both framings; of a
    revisit that a crawler wrote, what it refers to."""
    if row.row_key is None:
        return
    if row.type == "revisit":
        yield from _reference_rows(row, archive_file, scope)
        return
    if not row.payload_size:
        return
    second = _moment(row.date or "").second_14
    for body, sha1, sha256 in (
        ("stored", row.sha1, row.sha256),
        ("dechunked", row.dechunked_sha1, row.dechunked_sha256),
    ):
        if sha1 is None or sha256 is None:
            continue
        digests = (("sha1", sha1), ("sha256", sha256))
        keys = encode_digest_keys(
            scope, digests, row.payload_size, second, archive_file, row.ordinal
        )
        entry = encode_fields(DigestEntry, (row.row_key.decode("ascii"), body))
        for key in keys:
            yield key, {DigestEntry.COLUMN: entry}


def _reference_rows(
    row: SidecarRow, archive_file: str, scope: str
) -> Iterator[tuple[bytes, Cells]]:
    key = row.row_key or b""
    uri, second = row.refers_uri, NO_SECOND
    if uri and row.refers_date:
        second = _moment(row.refers_date).second_14
    # That of the answer to a POST has what was posted; references name the URI alone.
    urlkey_named = encode_urlkey(urlkey(uri or row.target_uri or ""))
    cells = {DigestEntry.COLUMN: encode_fields(DigestEntry, (key.decode("ascii"), "stored"))}
    named = [(REFERS_TO_URLKEY, urlkey_named)]
    if not uri and row.refers_id:
        named.append((REFERS_TO_ID, row.refers_id.encode("utf-8", "surrogateescape")))
    for kind, name in named:
        yield encode_reference_key(scope, kind, name, second, archive_file, row.ordinal), cells

"""Manifest lines out of an archive file's records.

A line per capture: every `response`, `resource` and `revisit`, whatever its state.
Who may not take part is marked `skip=REASON`, so that later steps need no archive
file.  The rules are `dedupe.eligibility`'s table; what only a reader can see is here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime

from pinakes.warc.dates import parse_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.header import strip_brackets
from pinakes.warc.reader import Item
from pinakes.warc.record import Record

from .manifest import ManifestLine

CAPTURE_TYPES = frozenset({"response", "resource", "revisit"})
# A request stands beside its response: this many records are held back to look for it.
_BESIDE_RECORDS = 4
_FIRST_WEB_ARCHIVE_YEAR = 1991
HARMLESS_FINDINGS = frozenset({"member"})
_NO_BODY_STATUS = frozenset({204, 206, 304})


class Held:
    """A capture's line, kept back until its request can no longer follow."""

    __slots__ = ("concurrent_to", "line", "record_id", "target_uri")

    def __init__(self, record: Record, line: ManifestLine) -> None:
        self.line = line
        self.record_id = record.record_id
        self.target_uri = line.target_uri
        self.concurrent_to = record.header.field("warc-concurrent-to")


def iter_manifest(
    items: Iterator[Item], *, file: str, algorithm: str = "sha1", now: datetime
) -> Iterator[ManifestLine]:
    """Yield a line for each capture among the records of one file, in order.

    `now` is when the file landed: a capture dated later lies.
    """
    held: deque[Held] = deque()
    other_methods: deque[Record] = deque(maxlen=_BESIDE_RECORDS)
    for record in items:
        if not isinstance(record, Record):
            continue
        if record.type in CAPTURE_TYPES:
            line = manifest_line(record, file=file, algorithm=algorithm, now=now)
            entry = Held(record, line)
            for request in other_methods:
                _mark_method(entry, request)
            held.append(entry)
        elif record.type == "request" and _is_not_get(record):
            other_methods.append(record)
            for entry in held:
                _mark_method(entry, record)
        if len(held) > _BESIDE_RECORDS:
            yield held.popleft().line
    for entry in held:
        yield entry.line


def _is_not_get(request: Record) -> bool:
    return bytes(next(request.chunks(), b"")[:4]).upper() != b"GET "


def _mark_method(entry: Held, request: Record) -> None:
    """Mark a capture whose request was no GET: another body is due to another question."""
    if entry.line.skip is not None or entry.line.type is not None:
        return
    request_id, to = request.record_id, strip_brackets(request.header.field("warc-concurrent-to"))
    named = strip_brackets(entry.concurrent_to)
    if to or named:
        beside = (to and to == entry.record_id) or (named and named == request_id)
    else:
        beside = request.target_uri == entry.target_uri
    if beside:
        entry.line = entry.line._replace(skip="method")


def manifest_line(record: Record, *, file: str, algorithm: str, now: datetime) -> ManifestLine:
    """The line of one capture, its request not considered."""
    header = record.header
    record_type = record.type
    http = record.http
    status = http.status if http is not None else None
    body_at = len(http.raw) if http is not None else 0
    size = record.body.size - body_at
    skip = why_not(record, status, size, now)
    refers: tuple[str | None, str | None, str | None] = (None, None, None)
    if record_type == "revisit":
        digest = declared_digest(record) or "-"
        refers = (
            strip_brackets(header.field("warc-refers-to-target-uri")),
            header.field("warc-refers-to-date"),
            strip_brackets(header.field("warc-refers-to")),
        )
    else:
        digest = str(record.payload_digest(algorithm))
    return ManifestLine(
        file,
        record.offset,
        record.length,
        record.target_uri or "",
        record.date or "",
        digest,
        None,
        None,
        None,
        None,
        size,
        status,
        skip,
        None if record_type == "response" else record_type,
        header.field("content-type") if record_type == "resource" else None,
        record.inner_offset,
        record.record_id,
        *refers,
    )


def declared_digest(record: Record) -> str | None:
    """The declared payload digest in our spelling; as written where it is in none."""
    text = record.header.field("warc-payload-digest")
    digest = parse_digest(text) if text else None
    return str(digest) if digest is not None else text


def why_not(record: Record, status: int | None, size: int, now: datetime) -> str | None:
    """Why this capture can be neither duplicate nor original; None where it can."""
    if record.type == "revisit":
        return None
    if record.findings and any(f.code not in HARMLESS_FINDINGS for f in record.findings):
        return "damaged"
    moment = parse_date(record.date or "")
    if moment is None or moment.year < _FIRST_WEB_ARCHIVE_YEAR or moment > now:
        return "date"
    return _unfit_body(record, size) or (
        _unfit_response(record, status, size) if record.type == "response" else None
    )


def _unfit_body(record: Record, size: int) -> str | None:
    header = record.header
    if not size:
        return "empty"
    if header.field("warc-truncated") is not None:
        return "truncated"
    if header.field("warc-segment-number") is not None:
        return "segment"
    return None if record.target_uri else "uri"


def _unfit_response(record: Record, status: int | None, size: int) -> str | None:
    if (record.target_uri or "")[:5].lower() not in ("http:", "https"):
        return "scheme"
    if status is None:
        return "status"
    if status in _NO_BODY_STATUS or 300 <= status < 400:
        return f"status-{status}"
    return _short_body(record, size)


def _short_body(record: Record, size: int) -> str | None:
    http = record.http
    if http is None:
        return "status"
    if http.says_chunked:
        if _begins_chunked(record) and not record.chunks_finished:
            return "chunks-unterminated"
        return None
    promised = http.content_length
    return "short-body" if promised is not None and size < promised else None


def _begins_chunked(record: Record) -> bool:
    """Whether the body is chunked: many writers take the chunks off and keep the header."""
    first = bytes(next(record.payload(), b"")[:1024])
    line, end, _ = first.partition(b"\n")
    digits = line.split(b";", 1)[0].strip()
    return (
        bool(end) and 0 < len(digits) < 16 and all(c in b"0123456789abcdefABCDEF" for c in digits)
    )

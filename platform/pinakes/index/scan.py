"""Manifest lines from the records of an archive file.

A line per capture: every `response`, `resource` and `revisit`, in any state.
Captures that take no part in dedupe get `skip=REASON` by the rules of `eligibility`, so
that later steps need no archive file.

This is the inner loop of `pinakes manifest`, which may take a tenth more than inflating
and hashing (docs/performance.md); so the common case is decided without building objects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache

from pinakes.warc.dates import parse_date
from pinakes.warc.digest import format_digest, parse_digest
from pinakes.warc.field_names import (
    CONTENT_TYPE_KEY,
    WARC_CONCURRENT_TO_KEY,
    WARC_SEGMENT_NUMBER_KEY,
    WARC_TRUNCATED_KEY,
)
from pinakes.warc.header import Header, strip_brackets
from pinakes.warc.reader import Item
from pinakes.warc.record import DamagedStretch, Record

from .beside import BESIDE_RECORDS, RecordNames, are_beside, names_of
from .eligibility import METHOD, RecordFacts, skip_reason
from .manifest import ManifestLine

CAPTURE_TYPES = frozenset({"response", "resource", "revisit"})
HARMLESS_FINDINGS = frozenset({"member"})
_FIRST_WEB_ARCHIVE_YEAR = 1991
_PARTIAL = frozenset({WARC_TRUNCATED_KEY, WARC_SEGMENT_NUMBER_KEY})
_HEX = frozenset(b"0123456789abcdefABCDEF")
Held = tuple[ManifestLine, Header]


def iter_manifest(
    items: Iterator[Item],
    *,
    file: str,
    algorithm: str = "sha1",
    now: datetime,
    trust_declared: bool = False,
    on_damage: Callable[[DamagedStretch], object] | None = None,
) -> Iterator[ManifestLine]:
    """Yield a line for each capture among the records of one file, in order.

    `now` is when the file landed: a later capture date is wrong.  With `trust_declared` a
    declared payload digest is used unverified, and computed only if there is none.
    `on_damage` is called with each damaged stretch.
    """
    held: deque[Held] = deque()
    other_methods: deque[Record] = deque(maxlen=BESIDE_RECORDS)
    for record in items:
        if not isinstance(record, Record):
            if on_damage is not None:
                on_damage(record)
            continue
        record_type = record.type
        if record_type in CAPTURE_TYPES:
            line = _capture_line(record, file, algorithm, now, trust_declared)
            for request in other_methods:
                line = _mark_method(line, record.header, request)
            held.append((line, record.header))
            if len(held) > BESIDE_RECORDS:
                yield held.popleft()[0]
        elif record_type == "request" and not record.starts_with(b"GET "):
            other_methods.append(record)
            for at, (line, header) in enumerate(held):
                held[at] = (_mark_method(line, header, record), header)
    for line, _ in held:
        yield line


def _mark_method(line: ManifestLine, header: Header, request: Record) -> ManifestLine:
    """Mark a capture whose request was not a GET: its body may depend on the body of that."""
    if line.skip is not None or line.type is not None:
        return line
    to = strip_brackets(header.field(WARC_CONCURRENT_TO_KEY))
    capture = RecordNames(line.record_id, to, line.target_uri)
    return line._replace(skip=METHOD) if are_beside(names_of(request), capture) else line


def _capture_line(
    record: Record, file: str, algorithm: str, now: datetime, trust_declared: bool
) -> ManifestLine:
    record_type = record.type
    http = record.http
    uri, date, record_id = record.header.outline()
    size = record.body.size
    if http is not None:
        size -= len(http.raw)
    # A fast test that most records pass: `why_not` would return None for them.
    fit = (
        http is not None
        and size
        and http.is_plainly_whole(size)
        and record_type == "response"
        and not record.findings
        and uri is not None
        and uri[:7] in ("http://", "https:/")
        and date is not None
        and _is_fit_date(date, now)
        and _is_whole(record)
    )
    status = 200 if fit else http.status if http is not None else None
    digest = declared_digest(record) if trust_declared or record_type == "revisit" else None
    if digest is None:
        digest = (
            "-"
            if record_type == "revisit"
            else format_digest(algorithm, record.payload_hash(algorithm))
        )
    declared = record.header.payload_digest
    line = ManifestLine(
        file,
        record.offset,
        record.length,
        uri or "",
        date or "",
        digest,
        None,
        None,
        None,
        None,
        size,
        status,
        None if fit else why_not(record, now=now),
        None if record_type == "response" else record_type,
        None,
        record.inner_offset,
        record_id,
        also=_also(declared, digest) if declared and declared != digest else None,
    )
    return line if record_type == "response" else _with_particulars(line, record)


def _with_particulars(line: ManifestLine, record: Record) -> ManifestLine:
    if record.type == "resource":
        return line._replace(ctype=record.header.field(CONTENT_TYPE_KEY))
    uri, date, record_id = record.header.refers_to()
    return line._replace(refers_uri=uri, refers_date=date, refers_id=record_id)


def declared_digest(record: Record) -> str | None:
    """The declared payload digest in the spelling of `Digest`; as written if unreadable."""
    text = record.header.payload_digest
    return _our_spelling(text) if text else text


def _our_spelling(declared: str) -> str:
    # Nearly all writers declare a digest in this spelling, or none.
    if len(declared) == 37 and declared[:5] == "sha1:" and declared[5:].isupper():
        return declared
    digest = parse_digest(declared)
    return declared if digest is None else str(digest)


def _also(declared: str, digest: str) -> str | None:
    """The declared digest, if it differs from the one on the line."""
    also = _our_spelling(declared)
    return also if also != digest else None


def _is_whole(record: Record) -> bool:
    return record.version[:4] == "WARC" and not record.header.has_any(_PARTIAL)


@lru_cache(maxsize=1024)
def _is_fit_date(text: str, now: datetime) -> bool:
    moment = parse_date(text)
    return moment is not None and moment.year >= _FIRST_WEB_ARCHIVE_YEAR and moment <= now


def why_not(record: Record, *, now: datetime) -> str | None:
    """Why this capture can be neither duplicate nor original; None if it can.

    Its request is not considered: that is another record.
    """
    field = record.header.field
    http = record.http
    chunked = http is not None and http.says_chunked and _begins_chunked(record)
    facts = RecordFacts(
        type=record.type,
        target_uri=record.target_uri or "",
        date=record.date_text or "",
        size=record.payload_size,
        status=http.status if http is not None else None,
        promised_size=http.content_length if http is not None else None,
        truncated=field(WARC_TRUNCATED_KEY) is not None,
        segment=field(WARC_SEGMENT_NUMBER_KEY) is not None,
        damaged=any(finding.code not in HARMLESS_FINDINGS for finding in record.findings),
        chunked=http is not None and http.says_chunked,
        chunks_unterminated=chunked and not record.chunks_finished,
        version=record.version,
    )
    return skip_reason(facts, landed=now)


def _begins_chunked(record: Record) -> bool:
    """Whether the body begins with a chunk: many writers remove chunks and keep the header."""
    first = bytes(next(record.payload(), b"")[:1024])
    line, end, _ = first.partition(b"\n")
    digits = line.split(b";", 1)[0].strip()
    return bool(end) and 0 < len(digits) < 16 and _HEX.issuperset(digits)

"""Checks of a record's block against its type, URI and fields.

The standard does not define the inside of HTTP messages (§6.3.2), so it is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.warc.field_names import (
    CONTENT_TYPE_KEY,
    WARC_BLOCK_DIGEST_KEY,
    WARC_FILENAME_KEY,
    WARC_IP_ADDRESS_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_REFERS_TO_KEY,
    WARC_SEGMENT_NUMBER_KEY,
    WARC_TRUNCATED_KEY,
)
from pinakes.warc.http.codings import codings_of
from pinakes.warc.record import Record

from . import syntax
from .fields import FIELDS
from .rules import Hit
from .subject import Subject

FIELDS_LIMIT_BYTES = 1 << 20
_REASONS = frozenset({"length", "time", "disconnect", "unspecified"})
_MSGTYPE = re.compile(r";\s*msgtype\s*=\s*\"?(\w+)", re.IGNORECASE)
_FIELD_LINE = re.compile(syntax.TOKEN.encode() + rb"[ \t]*:[^\x00-\x08\x0a-\x1f\x7f]*\Z")
_FOLDED = re.compile(rb"[ \t]+[^\x00-\x08\x0a-\x1f\x7f]*\Z")
_CONTINUATION_FIELDS = frozenset(
    {
        *(name for name, field in FIELDS.items() if len(field.mandatory) > 1),
        *(name for name in FIELDS if name.startswith("warc-segment-")),
        WARC_BLOCK_DIGEST_KEY,
        WARC_PAYLOAD_DIGEST_KEY,
        WARC_TRUNCATED_KEY,
    }
)
_NO_BODY_STATUS = frozenset({204, 304})


def check_content_type(subject: Subject) -> Iterator[Hit]:
    """A block has a Content-Type, an HTTP message the right one."""
    written = subject.first(CONTENT_TYPE_KEY)
    record = subject.record
    if written is None:
        if record.content_length and subject.type != "continuation":
            yield Hit("content-type-missing", "the record has a block and no Content-Type")
        return
    msgtype = _MSGTYPE.search(written)
    expected = "request" if subject.type == "request" else "response"
    if subject.is_http_message and subject.media_type != "application/http":
        message = f"{syntax.shown(written)} for an HTTP {expected}, instead of application/http"
        yield Hit("http-content-type", message)
    elif subject.media_type == "application/http" and msgtype and msgtype[1].lower() != expected:
        # `Rule.types` limits this to responses, requests and revisits.
        message = f"{syntax.shown(written)} on a {subject.type} record"
        yield Hit("http-content-type", message)


def check_capture(subject: Subject) -> Iterator[Hit]:
    """What responses, requests, resources and conversions need."""
    if subject.is_http_message and WARC_IP_ADDRESS_KEY not in subject.fields:
        yield Hit("ip-address-missing", f"an HTTP {subject.type} without WARC-IP-Address")
    if subject.type == "resource":
        yield from _check_resource(subject)
    if subject.type == "conversion" and WARC_REFERS_TO_KEY not in subject.fields:
        yield Hit("conversion-refers-to", "a conversion without WARC-Refers-To")


def _check_resource(subject: Subject) -> Iterator[Hit]:
    if subject.scheme == "dns" and subject.media_type != "text/dns":
        written = syntax.shown(subject.first(CONTENT_TYPE_KEY) or "")
        yield Hit("resource-dns-type", f"{written} for a dns URI, instead of text/dns")
    starts_as_http = block_start(subject.record, 5) == b"HTTP/"
    if subject.is_http and subject.media_type == "application/http" and starts_as_http:
        yield Hit("resource-http-block", "the block is an HTTP response with its headers")


def check_truncation(subject: Subject) -> Iterator[Hit]:
    """WARC-Truncated: its reason, and where it is missing."""
    reason = subject.first(WARC_TRUNCATED_KEY)
    if reason is not None and reason.lower() not in _REASONS and syntax.token(reason) is None:
        yield Hit("truncated-reason", f"{syntax.shown(reason)} is not in the standard")
    if reason is None and subject.type == "response" and not subject.is_segment:
        missing = _missing_body(subject) if subject.is_whole else 0
        if missing > 0:
            message = f"the HTTP body is {missing} bytes short, and there is no WARC-Truncated"
            yield Hit("truncated-unmarked", message)


def _missing_body(subject: Subject) -> int:
    """The bytes that are missing by HTTP's Content-Length; 0 where that does not say."""
    head = subject.record.http
    if head is None or head.content_length is None or head.status is None:
        return 0
    if head.says_chunked or head.status in _NO_BODY_STATUS or head.status < 200:
        return 0
    # Content-Length is that of the coded body; an empty body may be the answer to a HEAD.
    if codings_of(subject.record) or not subject.record.payload_size:
        return 0
    return head.content_length - subject.record.payload_size


def check_warcinfo(subject: Subject, file_name: str) -> Iterator[Hit]:
    """The Content-Type and the WARC-Filename of a warcinfo."""
    if subject.type != "warcinfo":
        return
    written = subject.first(CONTENT_TYPE_KEY)
    if written is not None and subject.media_type != "application/warc-fields":
        message = f"{syntax.shown(written)}, instead of application/warc-fields"
        yield Hit("warcinfo-content-type", message)
    named = subject.first(WARC_FILENAME_KEY)
    if named is not None:
        bare = named[1:-1] if len(named) > 1 and named[0] == named[-1] == '"' else named
        if bare and bare != file_name:
            named = f"the file is named {syntax.shown(file_name)}"
            yield Hit("filename-differs", f"WARC-Filename is {syntax.shown(bare)}, {named}")


def check_fields_block(subject: Subject) -> Iterator[Hit]:
    """A block of application/warc-fields; one over `FIELDS_LIMIT_BYTES` is not read."""
    record = subject.record
    if subject.media_type != "application/warc-fields" or not subject.is_whole:
        return
    if not 0 < record.block_size <= FIELDS_LIMIT_BYTES or subject.type == "continuation":
        return
    block = b"".join(bytes(piece) for piece in record.chunks())
    wrong = _wrong_fields_block(block)
    if wrong:
        yield Hit("warc-fields-block", wrong)


def _wrong_fields_block(block: bytes) -> str | None:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return "the block is not in UTF-8"
    lines = block.split(b"\n")
    last = lines.pop()
    if any(not line.endswith(b"\r") for line in lines):
        return "lines of the block end with LF instead of CRLF"
    # The grammar is unclear about the CRLF after the last field and about blank lines.
    for number, line in enumerate([*lines, last], 1):
        bare = line.removesuffix(b"\r")
        folded = number > 1 and _FOLDED.match(bare)
        if bare and not folded and not _FIELD_LINE.match(bare):
            return f"line {number} of the block is not a field"
    return None


def check_segment(subject: Subject) -> Iterator[Hit]:
    """The fields of one segment; `links` checks the series."""
    if not subject.is_segment:
        return
    number = subject.first(WARC_SEGMENT_NUMBER_KEY)
    if number is not None and syntax.digits(number) is None:
        first = int(number[:19]) == 1
        if subject.type == "continuation" and (first or int(number[:19]) == 0):
            yield Hit("segment-first", f"a continuation with WARC-Segment-Number {number[:19]}")
        elif subject.type != "continuation" and not first:
            message = f"a {subject.type} with WARC-Segment-Number {number[:19]}"
            yield Hit("segment-first", message)
    if subject.type in ("warcinfo", "request", "metadata", "revisit"):
        yield Hit("segment-record-type", f"a {subject.type} is segmented")
    if subject.type == "continuation":
        for name in subject.fields:
            if name in FIELDS and name not in _CONTINUATION_FIELDS:
                message = f"a continuation with {FIELDS[name].name}"
                yield Hit("segment-optional-field", message)


def block_start(record: Record, size: int) -> bytes:
    """The first bytes of a block."""
    return bytes(next(iter(record.chunks()), b"")[:size])

"""Whether a record can be a duplicate or an original, by the facts of that record.

Pure: the facts come from a reader, a sidecar or a row.  What only a collection can show
(addressability, pins) is `dedupe.decide.flags`; docs/dedupe.md says for each rule what would
break without it.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from pinakes.warc.dates import parse_date

TYPE = "type"
ARC = "arc"
URI = "uri"
SCHEME = "scheme"
METHOD = "method"
STATUS = "status"
EMPTY = "empty"
TRUNCATED = "truncated"
SEGMENT = "segment"
SHORT_BODY = "short-body"
CHUNKS_UNTERMINATED = "chunks-unterminated"
DAMAGED = "damaged"
DATE_UNREADABLE = "date-unreadable"
DATE_BEFORE_1991 = "date-before-1991"
DATE_AFTER_LANDING = "date-after-landing"
UNREADABLE = "unreadable"

REASONS = MappingProxyType(
    {
        TYPE: "neither a response nor a resource",
        ARC: "a record of an ARC file, which cannot hold a revisit: convert it first",
        URI: "no target URI",
        SCHEME: "a response to something other than http or https",
        METHOD: "the answer to a request other than GET",
        STATUS: "no status line, or a status whose body replay does not take from elsewhere",
        EMPTY: "an empty body",
        TRUNCATED: "WARC-Truncated: the body is not whole",
        SEGMENT: "a segment of a record",
        SHORT_BODY: "a body shorter than its HTTP Content-Length",
        CHUNKS_UNTERMINATED: "a chunked body without its last chunk",
        DAMAGED: "the reader found the record damaged",
        DATE_UNREADABLE: "a capture date that is none",
        DATE_BEFORE_1991: "a capture date before there was a web",
        DATE_AFTER_LANDING: "a capture date later than the file's landing",
        UNREADABLE: "its body could not be read again when bodies were compared",
    }
)

_FIRST_YEAR = 1991
_NO_WHOLE_BODY = frozenset({204, 205, 206})


class RecordFacts(NamedTuple):
    """The facts about a record that the rules need.

    A tuple and not a dataclass: one is made for each record of a collection.

    `size` is that of the stored body, `promised_size` its HTTP Content-Length, `method` that
    of its request (GET if there is none), `damaged` whether the reader has a finding that
    concerns the content; `chunks_unterminated` is only set for a body that begins with a
    chunk.
    """

    type: str
    target_uri: str
    date: str
    size: int
    status: int | None = None
    promised_size: int | None = None
    method: str = "GET"
    truncated: bool = False
    segment: bool = False
    damaged: bool = False
    chunked: bool = False
    chunks_unterminated: bool = False
    version: str = "WARC/1.0"


def skip_reason(facts: RecordFacts, *, landed: datetime) -> str | None:
    """Why this record can be neither duplicate nor original; None if it can.

    One of `REASONS`: the first that applies, in a fixed order.  A revisit gets None: its type
    excludes it.  `landed` is when the file arrived, an aware datetime.
    """
    if facts.type == "revisit":
        return None
    if facts.type not in ("response", "resource"):
        return TYPE
    return (
        _unfit_record(facts)
        or _unfit_date(facts.date, landed)
        or (_unfit_response(facts) if facts.type == "response" else None)
    )


def _unfit_record(facts: RecordFacts) -> str | None:
    if facts.damaged:
        return DAMAGED
    if facts.version.startswith("ARC"):
        return ARC
    if facts.truncated:
        return TRUNCATED
    if facts.segment:
        return SEGMENT
    if not facts.target_uri:
        return URI
    return None if facts.size else EMPTY


def _unfit_date(date: str, landed: datetime) -> str | None:
    moment = parse_date(date)
    if moment is None:
        return DATE_UNREADABLE
    if moment.year < _FIRST_YEAR:
        return DATE_BEFORE_1991
    return DATE_AFTER_LANDING if moment > landed else None


def _unfit_response(facts: RecordFacts) -> str | None:
    if facts.target_uri[:5].lower() != "http:" and facts.target_uri[:6].lower() != "https:":
        return SCHEME
    if facts.method.upper() != "GET":
        return METHOD
    status = facts.status
    if status is None or status < 200 or status in _NO_WHOLE_BODY or 300 <= status < 400:
        return STATUS
    if facts.chunked:
        # Content-Length is ignored if there is a transfer-coding (RFC 9112 §6.3).
        return CHUNKS_UNTERMINATED if facts.chunks_unterminated else None
    short = facts.promised_size is not None and facts.size < facts.promised_size
    return SHORT_BODY if short else None

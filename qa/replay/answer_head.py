"""The head of an answer: the captured one without the fields of its old connection.

Pure.  Status, Location, Content-Type, Content-Encoding, Set-Cookie and all others stay, byte for
byte.  Removed fields are in `LEFT_OUT`, with the reason; Content-Length is that of what is sent.
`Cache-Control: no-store` replaces the captured caching rules: the next page must request all its
resources again, or its log would lack those it used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime

from pinakes.access.byte_range import StoredRange, parse_content_range
from pinakes.errors import MalformedRecord
from pinakes.warc.header import Header
from pinakes.warc.http.message import HttpHead

from .request import ProxyRequest

_HOP_BY_HOP = "belongs to the original connection"
_REPORTS = "makes the browser send reports, which no crawl captured"
_STATE = "changes how this browser requests later pages"
_CACHING = "answers must not be cached for the next page"
LEFT_OUT = {
    "connection": _HOP_BY_HOP,
    "keep-alive": _HOP_BY_HOP,
    "proxy-authenticate": _HOP_BY_HOP,
    "proxy-authentication-info": _HOP_BY_HOP,
    "proxy-connection": _HOP_BY_HOP,
    "te": _HOP_BY_HOP,
    "trailer": _HOP_BY_HOP,
    "transfer-encoding": "already decoded",
    "upgrade": _HOP_BY_HOP,
    "content-length": "computed from what is sent",
    "content-range": "computed from what is sent",
    "alt-svc": "names servers that bypass the proxy",
    "strict-transport-security": _STATE,
    "public-key-pins": _STATE,
    "public-key-pins-report-only": _REPORTS,
    "expect-ct": _REPORTS,
    "clear-site-data": _STATE,
    "content-security-policy-report-only": _REPORTS,
    "nel": _REPORTS,
    "report-to": _REPORTS,
    "reporting-endpoints": _REPORTS,
    "cache-control": _CACHING,
    "expires": _CACHING,
    "pragma": _CACHING,
}
OUTCOME_HEADER = "Pinakes-Replay"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_REASON = re.compile(rb"HTTP/\S+[ \t]+\d{3}[ \t]*([^\r\n]*)", re.IGNORECASE)
_NOT_IN_VALUES = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_REPORTING_DIRECTIVE = re.compile(r"\s*report-(?:uri|to)\b", re.IGNORECASE)
_WITHOUT_BODY = frozenset({204, 205, 304})
Field = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHead:
    """Status line and header, and which part `[start, end)` of the body goes with them."""

    status: int
    reason: bytes
    fields: tuple[Field, ...]
    start: int
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a complete resource, not a requested part."""
        return self.status not in (206, 416)

    @property
    def media_type(self) -> str | None:
        """Content-Type without its parameters, lower case."""
        for name, value in self.fields:
            if name.lower() == b"content-type":
                return value.decode("latin-1").partition(";")[0].strip().lower() or None
        return None

    def encode(self, *, close: bool) -> bytes:
        """The bytes to send before the body."""
        lines = [b"HTTP/1.1 %d %b" % (self.status, self.reason)]
        lines += [b"%b: %b" % field for field in self.fields]
        if self.status not in (204, 304):
            lines.append(b"Content-Length: %d" % (self.end - self.start))
        lines.append(b"Connection: close" if close else b"Connection: keep-alive")
        return b"\r\n".join((*lines, b"", b""))


def captured_head(
    head: HttpHead, request: ProxyRequest, size: int, *, coded: bool, captured: datetime | None
) -> AnswerHead:
    """The head for a capture whose body, without transfer-coding, has that size.

    `coded`: the body has its Content-Encoding; otherwise the field is left out.

    Raises:
        MalformedRecord: the capture has no status that can be sent.
    """
    status = head.status
    if status is None or status < 200:
        raise MalformedRecord("the capture has no HTTP status that can be sent")
    stored = parse_content_range(head.get("content-range")) if status == 206 else None
    if stored is not None and stored.end - stored.start != size:
        stored = None  # a wrong Content-Range
    status, start, end, content_range = _part(status, stored, request, size)
    if status == 416 or status in _WITHOUT_BODY:
        start = end = 0
    fields = kept_fields(head, coded=coded)
    fields.append((b"Cache-Control", b"no-store"))
    if content_range is not None:
        fields.append((b"Content-Range", content_range.encode("ascii")))
    if captured is not None:
        when = format_datetime(captured, usegmt=True).encode("ascii")
        fields.append((b"Memento-Datetime", when))
    fields.append((OUTCOME_HEADER.encode(), b"hit"))
    return AnswerHead(
        status=status, reason=reason_of(head, status), fields=tuple(fields), start=start, end=end
    )


def _part(
    status: int, stored: StoredRange | None, request: ProxyRequest, size: int
) -> tuple[int, int, int, str | None]:
    """Status, start and end in the stored body, and the Content-Range of what is sent."""
    if status == 206 and stored is None:
        return 206, 0, size, None
    if stored is not None and stored.is_whole:
        status, stored = 200, None
    if request.range is None or status not in (200, 206) or request.method not in ("GET", "HEAD"):
        return status, 0, size, stored and _content_range(stored.start, stored.end, stored)
    if stored is None:
        wanted = request.range.within(size)
        if wanted is None:
            return 416, 0, 0, f"bytes */{size}"
        return 206, *wanted, f"bytes {wanted[0]}-{wanted[1] - 1}/{size}"
    wanted = request.range.within(stored.whole_size or stored.end)
    if wanted is None or not stored.start <= wanted[0] < stored.end:
        return 416, 0, 0, f"bytes */{stored.whole_size or '*'}"
    end = min(wanted[1], stored.end)
    sent = _content_range(wanted[0], end, stored)
    return 206, wanted[0] - stored.start, min(end - stored.start, size), sent


def _content_range(start: int, end: int, stored: StoredRange) -> str:
    return f"bytes {start}-{end - 1}/{'*' if stored.whole_size is None else stored.whole_size}"


def kept_fields(head: HttpHead, *, coded: bool) -> list[Field]:
    """The fields that are sent, without `LEFT_OUT`; line breaks in them are replaced."""
    fields = Header(head.raw).fields()
    named = ",".join(value for name, value in fields if name.lower() == "connection")
    left_out = {*LEFT_OUT, *(token.strip().lower() for token in named.split(","))}
    if not coded:
        left_out.add("content-encoding")
    kept = []
    for name, value in fields:
        low = name.lower()
        if low in left_out or not _TOKEN.match(name):
            continue
        text = _without_reports(value) if low == "content-security-policy" else value
        if text:
            raw = text.encode("utf-8", "surrogateescape")
            kept.append((name.encode("ascii"), _NOT_IN_VALUES.sub(b" ", raw).strip()))
    return kept


def _without_reports(policy: str) -> str:
    """A Content-Security-Policy, or several in one field, without reporting directives.

    A directive contains neither commas nor semicolons (CSP3 §2.2).
    """
    silent = (
        ";".join(d for d in one.split(";") if not _REPORTING_DIRECTIVE.match(d)).strip()
        for one in policy.split(",")
    )
    return ", ".join(filter(None, silent))


def reason_of(head: HttpHead, status: int) -> bytes:
    """The reason phrase: the captured one, if its status is this one."""
    if status != head.status:
        return {200: b"OK", 206: b"Partial Content"}.get(status, b"Range Not Satisfiable")
    match = _REASON.match(head.raw)
    return _NOT_IN_VALUES.sub(b" ", match[1]).strip() if match else b""


def own_head(status: int, outcome: str, size: int, *, fields: tuple[Field, ...] = ()) -> AnswerHead:
    """The head of an answer of the proxy's own, marked by `Pinakes-Replay`."""
    reasons = {
        204: b"No Content",
        404: b"Not In The Archive",
        502: b"Not Readable",
        503: b"Store Away",
    }
    own = (
        (b"Content-Type", b"text/plain; charset=utf-8"),
        (b"Cache-Control", b"no-store"),
        (OUTCOME_HEADER.encode(), outcome.encode("ascii")),
    )
    return AnswerHead(
        status=status,
        reason=reasons.get(status, b"Refused"),
        fields=(*own, *fields),
        start=0,
        end=size,
    )

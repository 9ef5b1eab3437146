"""What crawlers report of captures before their files land, and how a look-up names it.

POST /{collection}/crawls/{crawl}/captures     lines of JSON

    {"url":"http://example.org/","date":"2024-02-29T12:34:56Z","digest":"sha1:HVRU…","size":5120}

A report is known by its digest, second and urlkey; reported again, it is written again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from pinakes.catalog.lookup import INDEXED
from pinakes.catalog.reported import OwnReport, Report, why_unfit
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_cells import cdx_digest
from pinakes.hbase_schema.seen_cells import SeenCapture
from pinakes.index.seconds import second_of
from pinakes.warc.dates import parse_date
from pinakes.warc.digest import parse_digest

from .external import MOST_LINES
from .lines import Line, encoded, in_unicode

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MOST_CHARACTERS = 1 << 20
"""Of a line: as many as the header of a record may have."""
_MOST_BYTES = 1 << 53
"""What every client reads as a number."""
_REPORTED = b',"reported":true'
_TEXTS = ("url", "date", "digest", "mime", "filename", "method")


class ReportedBody(NamedTuple):
    """What a body reports: captures, and of those left out how many, by reason.

    The reasons are `index.eligibility.REASONS`: such a capture is no original once it has landed.
    """

    reports: list[Report]
    left_out: Counter[str]


def parse_reports(text: str, *, skips_bad: bool = False, now: datetime) -> ReportedBody:
    """The captures of a body, one a line, an object of JSON each; blank lines do not count.

    Raises:
        InputRefused: a line is bad, and nothing is taken, unless `skips_bad`; or there are more
            than `MOST_LINES`.
    """
    if text.count("\n") > MOST_LINES:
        raise InputRefused(f"nothing was changed: more than {MOST_LINES:,} lines: post some a time")
    found = ReportedBody([], Counter())
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            report, method = _parsed(line, number)
        except MalformedRecord as error:
            if not skips_bad:
                raise InputRefused(f"nothing was changed: {error.message}") from error
            found.left_out["bad"] += 1
            continue
        reason = why_unfit(report, method=method, now=now)
        if reason is None:
            found.reports.append(report)
        else:
            found.left_out[reason] += 1
    return found


def _parsed(line: str, number: int) -> tuple[Report, str]:
    if len(line) > _MOST_CHARACTERS:
        raise MalformedRecord(f"line {number} is longer than {_MOST_CHARACTERS:,} characters")
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise MalformedRecord(f"line {number} is no object of JSON: {line[:200]!r}")
    texts = {name: _text(given, name, number) for name in _TEXTS}
    texts["date"] = texts["date"] or _text(given, "timestamp", number)
    url, date, digest = texts["url"], texts["date"], parse_digest(texts["digest"] or "")
    if not url:
        raise MalformedRecord(f"line {number} has no url: {line[:200]!r}")
    if not date or not date.isascii() or second_of(date) is None:
        raise MalformedRecord(f"line {number} has no date: {line[:200]!r}")
    if digest is None or digest.algorithm not in INDEXED:
        raise MalformedRecord(f"line {number} has no digest of SHA-1 or SHA-256: {line[:200]!r}")
    seen = SeenCapture(
        url=url,
        date=date,
        mime=texts["mime"],
        status=_number(given, "status", number),
        size=_number(given, "size", number),
        length=_number(given, "length", number),
        file=texts["filename"],
    )
    return Report(digest=digest, seen=seen), texts["method"] or "GET"


def _text(given: dict[str, Any], name: str, number: int) -> str | None:
    value = given.get(name)
    if value is None or value == "-":
        return None
    if not isinstance(value, str) or _CONTROL.search(value):
        raise MalformedRecord(f"line {number}: {name} is no text: {value!r:.200}")
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise MalformedRecord(f"line {number}: {name} is text in no encoding") from error
    return value


def _number(given: dict[str, Any], name: str, number: int) -> int | None:
    value = given.get(name)
    if value is None or value == "-":
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 16:
        value = int(value)
    if type(value) is not int or not 0 <= value < _MOST_BYTES:
        raise MalformedRecord(f"line {number}: {name} is no number: {value!r:.200}")
    return value


def summary_of(found: ReportedBody) -> Iterator[bytes]:
    """The answer to the crawler: how many were taken, and how many left out, and why."""
    yield b"Added %d captures" % len(found.reports)
    if found.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(found.left_out.items()))
        yield f", left out {found.left_out.total()}: {reasons}".encode("ascii")
    yield b"\n"


def report_json(own: OwnReport) -> bytes:
    """A report where a look-up names an original: as that, but without a place."""
    line = report_line(own)
    seen, scope = own.report.seen, own.scope
    more = {"date": _warc_date(seen.date)}
    more |= {"size": str(seen.size)} if seen.size is not None else {}
    more |= {"collection": scope.collection, "crawl": scope.crawl}
    lead = {"urlkey": line.urlkey.decode("ascii"), "timestamp": line.timestamp.decode("ascii")}
    fields = in_unicode(line.fields.removesuffix(_REPORTED))
    return b"{%b,%b,%b%b}" % (encoded(lead), fields, encoded(more), _REPORTED)


def report_line(own: OwnReport) -> Line:
    """A report as a line of an index, without a place: where one line is asked for."""
    report, seen = own.report, own.report.seen
    values = {"url": seen.url, "mime": seen.mime}
    values["status"] = str(seen.status) if seen.status is not None else None
    values["digest"] = cdx_digest(str(report.digest))
    known = {name: value for name, value in values.items() if value is not None}
    return Line(report.urlkey, report.second.encode("ascii"), encoded(known) + _REPORTED, b"")


def _warc_date(date: str) -> str:
    """A date as records have it, of digits, too."""
    moment = parse_date(date)
    if "-" in date or moment is None:
        return date
    whole = f"{moment:%Y-%m-%dT%H:%M:%S}"
    fraction = f".{moment.microsecond // 1000:03d}" if moment.microsecond else ""
    return f"{whole}{fraction}Z"

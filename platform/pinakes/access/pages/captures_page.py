"""The page of a URL: its calendar, and its captures with what changed between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from pinakes.access.readable import ReadableCaptures, ReadBudget, Shown
from pinakes.catalog.captures import CaptureRow
from pinakes.catalog.payloads import has_digest
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.ranges import KeyRange, prefix_range

from .calendar import WEEKDAYS, read_calendar
from .rendering import Links, is_short, render
from .url_list import newest_of

LINES = 100
_ROWS = 5_000
_PERIOD = re.compile(r"[0-9]{4}(?:[0-9]{2}){0,2}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureLine:
    """A capture, and what changed since the one before."""

    shown: Shown
    changes: tuple[ChangeLabel, ...]


def captures_page(
    captures: ReadableCaptures,
    urlkey: bytes,
    *,
    uri: str | None,
    period: str,
    after: str,
    links: Links,
) -> str | None:
    """The page; None if the URL has no capture that may be shown.

    `uri` is as it was asked for, `period` a year, month or day, and `after` the time and mark of a
    row key after which the list begins.
    """
    period = period if _PERIOD.match(period) else ""
    calendar = read_calendar(captures, urlkey, period[:4])
    if calendar is None:
        return None
    if period[:4] != calendar.year:
        period = calendar.year
    of_url = prefix_range(urlkey + b" ")
    first = next(captures.scan(of_url, ReadBudget(rows=_ROWS)))
    last = newest_of(captures, urlkey) or first
    lines, next_key = _lines(captures, urlkey, period, after)
    uri = uri if uri is not None else first.capture.facts.target_uri
    return render(
        "captures.html",
        links=links,
        uri=uri,
        urlkey=urlkey.decode("ascii"),
        below=f"{uri.rstrip('*')}*" if is_short(uri) else "",
        calendar=calendar,
        weekdays=WEEKDAYS,
        first=first,
        last=last,
        period=period,
        after=after,
        lines=lines,
        next_key=next_key,
    )


def _lines(
    captures: ReadableCaptures, urlkey: bytes, period: str, after: str
) -> tuple[list[CaptureLine], str]:
    """Captures of a period after a key, and that of the last if there are more."""
    head = urlkey + b" "
    key_range = prefix_range(head + period.encode("ascii"))
    if after:
        behind = head + after.encode("ascii", "replace") + b"\0"
        key_range = KeyRange(max(behind, key_range.start_row), key_range.stop_row)
    budget = ReadBudget(rows=_ROWS)
    found = [one.capture for one in islice(captures.scan(key_range, budget), LINES + 1)]
    before = _before(captures, urlkey, found[0]) if found else None
    lines = []
    shown = {one.capture.key: one for one in captures.place(found[:LINES])}
    for capture in found[:LINES]:
        if capture.key in shown:
            lines.append(
                CaptureLine(shown=shown[capture.key], changes=tuple(changes(before, capture)))
            )
        before = capture
    is_more = len(found) > LINES or (budget.is_spent and budget.last_key is not None)
    if not is_more:
        return lines, ""
    end = found[LINES - 1].key if len(found) > LINES else budget.last_key or b""
    return lines, end[len(head) :].decode("ascii")


def _before(captures: ReadableCaptures, urlkey: bytes, capture: CaptureRow) -> CaptureRow | None:
    earlier = KeyRange(urlkey + b" ", capture.key)
    few = ReadBudget(rows=LINES)
    found = next(captures.scan(earlier, few, reverse=True), None)
    return found.capture if found is not None else None


class ChangeLabel(NamedTuple):
    """A kind, for the style (`same`, `other`, `status`, `plain`), and words."""

    kind: str
    words: str


def changes(before: CaptureRow | None, capture: CaptureRow) -> list[ChangeLabel]:
    """What is different from the capture before; for the first one, nothing but that it is."""
    found = [_body(before, capture)]
    facts = capture.facts
    if facts.type == "revisit":
        found.append(ChangeLabel("plain", "revisit by its crawler"))
    elif capture.is_duplicate:
        found.append(ChangeLabel("plain", "stored as a revisit by dedupe"))
    if before is None:
        return found
    was = before.facts
    if _status(was) != _status(facts):
        found.append(ChangeLabel("status", f"status {_status(was)} → {_status(facts)}"))
    if was.media_type and facts.media_type and was.media_type != facts.media_type:
        found.append(ChangeLabel("status", f"type {was.media_type} → {facts.media_type}"))
    return found


def _body(before: CaptureRow | None, capture: CaptureRow) -> ChangeLabel:
    if before is None:
        return ChangeLabel("plain", "first capture")
    same = is_same_body(before.facts, capture.facts)
    if same is None:
        return ChangeLabel("plain", "body not comparable: a digest is missing")
    if same:
        return ChangeLabel("same", "same body")
    sizes = (before.facts, capture.facts)
    if any(facts.type == "revisit" or facts.payload_size is None for facts in sizes):
        return ChangeLabel("other", "other body")
    difference = (capture.facts.payload_size or 0) - (before.facts.payload_size or 0)
    words = f"{difference:+,} bytes" if difference else "of the same size"
    return ChangeLabel("other", f"other body, {words}")


def is_same_body(one: CaptureFacts, two: CaptureFacts) -> bool | None:
    """Whether two captures have one body, by their digests; None if that is not known."""
    mine, others = _digests(one), _digests(two)
    if not mine or not others:
        return None
    return any(has_digest(two, digest) for digest in mine)


def _digests(facts: CaptureFacts) -> list[str]:
    if facts.type == "revisit":  # its own block has no body
        return [facts.declared_digest] if facts.declared_digest else []
    return [text for text in (facts.payload_sha1, facts.declared_digest) if text]


def _status(facts: CaptureFacts) -> str:
    return "none" if facts.status is None else str(facts.status)

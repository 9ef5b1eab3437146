"""What a capture refers to, and what refers to it; a bounded number of rows each way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pinakes.access.readable import ReadableCaptures, ReadBudget, Shown
from pinakes.catalog.captures import CaptureRow
from pinakes.catalog.lookup import TABLE as DIGESTS
from pinakes.catalog.payloads import at_moment, has_digest
from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.digest_keys import digests_of
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.index.urlkey import urlkey
from pinakes.row_store.cells import read_cell
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import parse_digest

COPIES_ROWS = 200
_SECOND_ROWS = 200
_LATER_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferredOriginal:
    """What a revisit refers to, as it names it; `shown` is None where that was not found."""

    uri: str | None
    date: str | None
    shown: Shown | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferringCaptures:
    """Captures that refer to one; `is_whole` is False where there may be more."""

    captures: tuple[Shown, ...]
    is_whole: bool


def original_of(captures: ReadableCaptures, capture: CaptureRow) -> ReferredOriginal | None:
    """What a capture refers to, by dedupe's decision or by its own record; None: to nothing."""
    mark = capture.dedupe
    if mark is not None and capture.is_duplicate:
        key = (mark.refers_to_key or "").encode("ascii")
        found = captures.get([key]).get(key) if key else None
        return ReferredOriginal(
            uri=mark.refers_to_target_uri, date=mark.refers_to_date, shown=found
        )
    facts = capture.facts
    if facts.type != "revisit":
        return None
    return ReferredOriginal(
        uri=facts.refers_to_target_uri,
        date=facts.refers_to_date,
        shown=_named(captures, facts),
    )


def _named(captures: ReadableCaptures, revisit: CaptureFacts) -> Shown | None:
    """The full record with the URI and second that a crawler's revisit names."""
    uri, date = revisit.refers_to_target_uri, parse_date(revisit.refers_to_date or "")
    if not uri or date is None:
        return None
    key_range = prefix_range(b"%b %b" % (encode_urlkey(urlkey(uri)), format_14(date).encode()))
    found = [
        capture
        for sighting in captures.scan(key_range, ReadBudget(rows=_SECOND_ROWS))
        if _fits(capture := sighting.capture, uri, revisit.declared_digest)
    ]
    exact = at_moment(found, revisit.refers_to_date)
    found.sort(key=lambda one: (one.facts.record_id != revisit.refers_to_id, one not in exact))
    return next(captures.place(found), None)


def _fits(capture: CaptureRow, uri: str, declared: str | None) -> bool:
    facts = capture.facts
    if facts.type == "revisit" or facts.target_uri != uri:
        return False
    return declared is None or has_digest(facts, declared)


def referrers_of(captures: ReadableCaptures, shown: Shown) -> ReferringCaptures:
    """The duplicates of a capture, and revisits of its URL by crawlers that name it.

    Duplicates are looked for among the first copies of its body in its collection.
    """
    capture = shown.capture
    keys, all_copies = _copies(captures, shown)
    by_dedupe = [
        one
        for one in captures.get(keys).values()
        if one.capture.dedupe is not None
        and one.capture.dedupe.refers_to_key == capture.key.decode("ascii")
    ]
    budget = ReadBudget(rows=_LATER_ROWS)
    by_crawlers = list(captures.place(_revisits(captures, capture, budget)))
    found = {one.capture.key: one for one in (*by_dedupe, *by_crawlers)}
    return ReferringCaptures(
        captures=tuple(sorted(found.values(), key=lambda one: one.capture.time)),
        is_whole=all_copies and not budget.is_spent,
    )


def _copies(captures: ReadableCaptures, shown: Shown) -> tuple[list[bytes], bool]:
    facts = shown.capture.facts
    digest = parse_digest(facts.payload_sha256 or "")
    if digest is None or shown.collection is None:
        return [], True
    key_range = digests_of(shown.collection, "sha256", digest.hex, facts.payload_size)
    rows = captures.rows.scan(DIGESTS, key_range, limit_rows=COPIES_ROWS)
    entries = (
        entry
        for row in islice(rows, COPIES_ROWS)
        if (entry := read_cell(DigestEntry, DIGESTS, row)) is not None
    )
    keys = [entry.capture_key.encode("ascii") for entry in entries]
    return keys, len(keys) < COPIES_ROWS


def _revisits(
    captures: ReadableCaptures, capture: CaptureRow, budget: ReadBudget
) -> Iterator[CaptureRow]:
    facts = capture.facts
    date = parse_date(facts.date)
    if facts.type == "revisit" or date is None:
        return
    urlkey_, _, _ = capture.key.partition(b" ")
    later = KeyRange(capture.key + b"\0", prefix_range(urlkey_ + b" ").stop_row)
    for sighting in captures.scan(later, budget):
        one = sighting.capture
        if (
            one.facts.type == "revisit"
            and one.facts.refers_to_target_uri == facts.target_uri
            and parse_date(one.facts.refers_to_date or "") == date
        ):
            yield one

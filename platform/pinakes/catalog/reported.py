"""Captures that a running crawl has seen, as its crawler reports them before their files land.

    +news:seen:spring:OPENING:DIGEST:SECOND:URL    and the same by URL: `hbase_schema.seen_keys`

They belong to the open crawl alone.  Nothing but a look-up of that crawl reads them: they are in
no answer to others, and `dedupe` does not know them.  They are deleted when the crawl is committed
or taken out; what was written too late is in no scope that anybody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from pinakes.errors import Conflict
from pinakes.hbase_schema.capture_cells import REVISIT_MIME
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.name_keys import encode_crawl_key
from pinakes.hbase_schema.run_cells import CrawlFacts, CrawlState
from pinakes.hbase_schema.seen_cells import ReportsSettled, SeenCapture
from pinakes.hbase_schema.seen_keys import (
    SeenScope,
    decode_seen_key,
    encode_seen_keys,
    opening_of,
    seen_at,
    seen_by_digest,
    seen_in,
    seen_with,
)
from pinakes.index.eligibility import EMPTY, TYPE, RecordFacts, skip_reason
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Delete, Put, Row, RowStore, get_row
from pinakes.warc.digest import Digest, hasher

from .crawl_rows import COMMITTED, OPEN, TABLE, require_open

MOST_OF_ONE = 8
"""So many reports of one digest or URL are read: enough for any answer."""
_BATCH_ROWS = 5000
_COLUMNS = (SeenCapture.COLUMN,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A capture that a crawler reports: `digest` is that of its body, as in `digests`."""

    digest: Digest
    seen: SeenCapture

    @property
    def second(self) -> str:
        """Its time, 14 digits; Raises ValueError if its date is none."""
        second = second_of(self.seen.date)
        if second is None:
            raise ValueError(f"not a date: {self.seen.date!r}")
        return second

    @property
    def urlkey(self) -> bytes:
        """The urlkey of its URL, as in keys of captures."""
        return encode_urlkey(urlkey(self.seen.url))


class OwnReport(NamedTuple):
    """A report, and the open crawl that made it."""

    report: Report
    scope: SeenScope


def why_unfit(report: Report, *, method: str = "GET", now: datetime) -> str | None:
    """Why a reported capture cannot be an original once it lands; None if it can, as far as the
    report tells.  The rules are those of `dedupe`."""
    seen = report.seen
    if seen.mime == REVISIT_MIME:
        return TYPE
    if report.digest.value == hasher(report.digest.algorithm)(b"").digest():
        return EMPTY
    facts = RecordFacts(
        type="response",
        target_uri=seen.url,
        date=seen.date,
        size=1 if seen.size is None else seen.size,
        status=200 if seen.status is None else seen.status,
        method=method,
    )
    return skip_reason(facts, landed=now)


def open_scope(store: RowStore, crawl: str) -> SeenScope:
    """Where reports of a crawl are kept while it is open.  One round trip, or two.

    Raises:
        Conflict: the crawl is not open, or unknown.
    """
    scope = find_open_scope(store, crawl)
    if scope is None:
        require_open(store, crawl)
        raise Conflict(f"there is no crawl {crawl}")
    return scope


def find_open_scope(store: RowStore, crawl: str) -> SeenScope | None:
    """The same; None if it is not open, or unknown.  One round trip."""
    row = get_row(store, TABLE, encode_crawl_key(crawl))
    facts = row.value(CrawlFacts.COLUMN) if row is not None else None
    if row is None or facts is None:
        return None
    state = _state(row)
    if state is not None and state.state != OPEN:
        return None
    act = state.act if state is not None else ""
    return SeenScope(decode_cell(CrawlFacts, facts).collection, crawl, opening_of(act))


def _state(row: Row) -> CrawlState | None:
    value = row.value(CrawlState.COLUMN)
    return decode_cell(CrawlState, value) if value is not None else None


def put_reports(store: RowStore, scope: SeenScope, reports: Sequence[Report]) -> None:
    """Write reports; a capture that was reported is written again.

    Raises:
        Conflict: the crawl is no longer open; of these reports nothing stays.
    """
    cells = [(report, {SeenCapture.COLUMN: encode_cell(report.seen)}) for report in reports]
    store.mutate(
        TABLE, (Put(key, cell, None) for report, cell in cells for key in _keys(scope, report))
    )
    # Commit and cancel change the state before they delete: so one of the two sees the other.
    row = get_row(store, TABLE, encode_crawl_key(scope.crawl))
    state = _state(row) if row is not None else None
    act = state.act if state is not None else ""
    if state is None or (state.state == OPEN and opening_of(act) == scope.opening):
        return
    if state.state != COMMITTED or (row is not None and read_settled(row, state.act) is not None):
        store.mutate(
            TABLE, (Delete(key, None) for report, _ in cells for key in _keys(scope, report))
        )
    require_open(store, scope.crawl)
    raise Conflict(f"the crawl {scope.crawl} was opened again: report to it anew")


def _keys(scope: SeenScope, report: Report) -> tuple[bytes, bytes]:
    digest = report.digest
    return encode_seen_keys(scope, digest.algorithm, digest.hex, report.second, report.urlkey)


def read_settled(row: Row, act: str) -> ReportsSettled | None:
    """What reports came to, in the row of a crawl that this act has committed; else None."""
    value = row.value(ReportsSettled.COLUMN)
    settled = decode_cell(ReportsSettled, value) if value is not None else None
    return settled if settled is not None and settled.act == act else None


def scan_reports(store: RowStore, scope: SeenScope) -> Iterator[Report]:
    """The reports of an open crawl: by digest, those of one digest by second; lazy."""
    rows = store.scan(TABLE, seen_by_digest(scope), columns=_COLUMNS)
    return map(_report, rows)


def has_reports(store: RowStore, scope: SeenScope) -> bool:
    """Whether there is any.  One round trip."""
    first = store.scan(TABLE, seen_by_digest(scope), columns=_COLUMNS, limit_rows=1)
    return next(first, None) is not None


def reports_with(
    store: RowStore, scope: SeenScope, digests: Iterable[Digest]
) -> dict[Digest, list[Report]]:
    """By digest the first `MOST_OF_ONE` reports, the earliest first.  One round trip for
    hundreds."""
    ranges = {one: seen_with(scope, one.algorithm, one.hex) for one in digests}
    found = store.first_rows(TABLE, list(ranges.values()), limit_rows=MOST_OF_ONE, columns=_COLUMNS)
    return {digest: [*map(_report, rows)] for digest, rows in zip(ranges, found, strict=True)}


def reports_at(
    store: RowStore, scope: SeenScope, named: Iterable[tuple[bytes, str | None]]
) -> dict[tuple[bytes, str | None], list[Report]]:
    """By urlkey, as in keys, and second (None: any) the first `MOST_OF_ONE` reports, the earliest
    first.  One round trip for hundreds."""
    ranges = {one: seen_at(scope, *one) for one in named}
    found = store.first_rows(TABLE, list(ranges.values()), limit_rows=MOST_OF_ONE, columns=_COLUMNS)
    return {one: [*map(_report, rows)] for one, rows in zip(ranges, found, strict=True)}


def newest_reports_of(store: RowStore, scope: SeenScope, urlkey: bytes) -> list[Report]:
    """The last `MOST_OF_ONE` reports of a urlkey, the latest first."""
    keys = seen_at(scope, urlkey)
    rows = store.scan(TABLE, keys, columns=_COLUMNS, reverse=True, limit_rows=MOST_OF_ONE)
    return [*map(_report, rows)]


def _report(row: Row) -> Report:
    key = decode_seen_key(row.key)
    return Report(
        digest=Digest(key.algorithm, bytes.fromhex(key.hex)),
        seen=decode_cell(SeenCapture, row.cells[SeenCapture.COLUMN].value),
    )


def delete_reports(store: RowStore, collection: str, crawl: str) -> None:
    """Delete all reports of a crawl, also such as were written too late; repeatable.

    The caller has changed the crawl's state: so nobody reads them, and no more are written.
    """
    rows = store.scan(TABLE, seen_in(collection, crawl), columns=_COLUMNS)
    while batch := [Delete(row.key, None) for row in islice(rows, _BATCH_ROWS)]:
        store.mutate(TABLE, batch)

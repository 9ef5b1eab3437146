"""Captures that a running crawl has seen, as its crawler reports them before their files land.

    +news:seen:spring:OPENING:DIGEST:SECOND:URL    and the same by URL: `hbase_schema.seen_keys`

They belong to the open crawl alone.  Nothing but a look-up of that crawl reads them: they are in
no answer to others, and `dedupe` does not know them.  They are deleted when the crawl is committed
or taken out; what was written too late is in no scope that anybody reads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from pinakes.errors import Conflict
from pinakes.hbase_schema.capture_cells import REVISIT_MIME, DigestEntry
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.digest_keys import decode_digest_key, digests_of
from pinakes.hbase_schema.name_keys import crawl_of, encode_crawl_key
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.hbase_schema.seen_cells import CommitFindings, SeenCapture
from pinakes.hbase_schema.seen_keys import (
    SeenScope,
    decode_seen_key,
    decode_seen_opening,
    encode_seen_keys,
    opening_of,
    seen_at,
    seen_by_digest,
    seen_in,
    seen_of,
    seen_with,
)
from pinakes.index.eligibility import EMPTY, TYPE, RecordFacts, skip_reason
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.cells import require_cell
from pinakes.row_store.port import Delete, Put, Row, RowStore
from pinakes.warc.digest import Digest, hasher

from .crawl_rows import OPEN, TABLE, read_crawl, require_open
from .file_rows import hidden_among
from .lookup import TABLE as DIGESTS
from .many_ranges import rows_in

MOST_OF_ONE = 8
"""So many reports of one digest or URL are read: enough for any answer."""
_BATCH_ROWS = 5000
_COLUMNS = (SeenCapture.COLUMN,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A capture that a crawler reports: `digest` is that of its body, as in `digests`.

    Raises ValueError if its date is none.
    """

    digest: Digest
    seen: SeenCapture

    def __post_init__(self) -> None:
        if second_of(self.seen.date) is None:
            raise ValueError(f"not a date: {self.seen.date!r}")

    @property
    def second(self) -> str:
        """Its time, 14 digits."""
        return second_of(self.seen.date) or ""

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
    report says.  The rules are those of `dedupe`."""
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
    entry = read_crawl(store, crawl)
    if entry is None or entry.state != OPEN:
        return None
    return SeenScope(entry.facts.collection, crawl, opening_of(entry.act))


def put_reports(store: RowStore, scope: SeenScope, reports: Sequence[Report]) -> None:
    """Write reports; a capture that was reported is written again.

    Raises:
        Conflict: the crawl is no longer open; of these reports nothing stays.
    """
    store.mutate(TABLE, _puts(scope, reports))
    # Commit and cancel change the state before they delete: so one of the two sees the other.
    if find_open_scope(store, scope.crawl) != scope:
        store.mutate(TABLE, (Delete(key, None) for r in reports for key in _keys(scope, r)))
        require_open(store, scope.crawl)
        raise Conflict(f"the crawl {scope.crawl} was opened again: report to it again")


def _puts(scope: SeenScope, reports: Iterable[Report]) -> Iterator[Put]:
    for report in reports:
        cells = {SeenCapture.COLUMN: encode_cell(report.seen)}
        yield from (Put(key, cells, None) for key in _keys(scope, report))


def _keys(scope: SeenScope, report: Report) -> tuple[bytes, bytes]:
    digest = report.digest
    return encode_seen_keys(scope, digest.algorithm, digest.hex, report.second, report.urlkey)


def scan_scopes_of(store: RowStore, collection: str, crawl: str) -> Iterator[SeenScope]:
    """The scopes of a crawl that have reports, however they were opened; mostly one, or none."""
    keys = seen_in(collection, crawl)
    while row := next(store.scan(TABLE, keys, columns=_COLUMNS, limit_rows=1), None):
        scope = SeenScope(collection, crawl, decode_seen_opening(row.key))
        yield scope
        keys = KeyRange(seen_of(scope).stop_row or b"", keys.stop_row)


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
        seen=require_cell(SeenCapture, TABLE, row),
    )


def landed_among(
    store: RowStore,
    scope: SeenScope,
    reports: Collection[Report],
    *,
    most_copies: int | None = None,
) -> set[Report]:
    """Those of which a capture of the crawl has landed, and is visible: of the same digest, urlkey
    and second.

    Reads all captures with these digests; or `most_copies` of each, and with more of them a report
    is taken for landed.
    """
    digests = list({report.digest for report in reports})
    ranges = [digests_of(scope.collection, one.algorithm, one.hex) for one in digests]
    if most_copies is None:
        rows = rows_in(store, DIGESTS, ranges, [DigestEntry.COLUMN])
    else:
        first = store.first_rows(
            DIGESTS, ranges, limit_rows=most_copies + 1, columns=[DigestEntry.COLUMN]
        )
        rows = ((number, row) for number, some in enumerate(first) for row in some)
    files: dict[tuple[Digest, str], list[tuple[bytes, str]]] = defaultdict(list)
    copies: Counter[Digest] = Counter()
    wanted = {(report.digest, report.second) for report in reports}
    for number, row in rows:
        key, digest = decode_digest_key(row.key), digests[number]
        copies[digest] += 1
        if crawl_of(key.archive_file) == scope.crawl and (digest, key.second) in wanted:
            entry = require_cell(DigestEntry, DIGESTS, row)
            named = entry.capture_key.encode("ascii").partition(b" ")[0]
            files[digest, key.second].append((named, key.archive_file))
    hidden = hidden_among(store, {file for some in files.values() for _, file in some})
    return {
        report
        for report in reports
        if (most_copies is not None and copies[report.digest] > most_copies)
        or any(
            named == report.urlkey and file not in hidden
            for named, file in files.get((report.digest, report.second), ())
        )
    }


def scan_not_landed(store: RowStore, scope: SeenScope) -> Iterator[tuple[int, list[Report]]]:
    """Of some thousand reports at a time, in order: how many landed, and those that did not."""
    reports = scan_reports(store, scope)
    while batch := list(islice(reports, _BATCH_ROWS)):
        landed = landed_among(store, scope, batch)
        yield len(landed), [report for report in batch if report not in landed]


def delete_scope(store: RowStore, scope: SeenScope) -> None:
    """Delete the reports of a crawl that is no longer open; repeatable."""
    _delete_in(store, seen_of(scope))


def delete_reports(store: RowStore, collection: str, crawl: str) -> None:
    """Delete all reports of a crawl that is taken out, also such as were written too late;
    repeatable."""
    _delete_in(store, seen_in(collection, crawl))


def forget_reports(store: RowStore, collection: str, crawl: str) -> None:
    """Delete all that is known by reports of a crawl that is taken out; repeatable."""
    delete_reports(store, collection, crawl)
    store.mutate(TABLE, [Delete(encode_crawl_key(crawl), None, columns=(CommitFindings.COLUMN,))])


def _delete_in(store: RowStore, keys: KeyRange) -> None:
    rows = store.scan(TABLE, keys, columns=_COLUMNS)
    while batch := [Delete(row.key, None) for row in islice(rows, _BATCH_ROWS)]:
        store.mutate(TABLE, batch)

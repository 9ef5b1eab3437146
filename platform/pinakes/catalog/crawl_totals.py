"""What landed in a crawl, summed over its acts, and when the latest of them began.

A crawl has a cell of counts for each file that landed or left: reading them costs by the
file, so whoever asks often keeps the answer (`access.landing_view`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.name_keys import ALL_CRAWLS, encode_crawl_key
from pinakes.hbase_schema.run_cells import CrawlFacts, CrawlState
from pinakes.row_store.port import RowStore, get_row

from .crawl_rows import HEAD, OPEN, TABLE, iter_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlHead:
    """A crawl without its counts; `changed_ms` is when its state was last written."""

    crawl: str
    collection: str
    state: str
    changed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTotals:
    """Sums over all acts of a crawl; `latest_ms` is None where nothing has landed."""

    counts: Counter[str]
    latest_ms: int | None


def scan_heads(store: RowStore) -> Iterator[CrawlHead]:
    """All crawls, by name.  Costs by the crawl, not by the file."""
    for row in store.scan(TABLE, ALL_CRAWLS, columns=HEAD):
        facts, state = row.value(CrawlFacts.COLUMN), row.cells.get(CrawlState.COLUMN)
        if facts is not None:
            yield CrawlHead(
                crawl=row.key.decode("ascii"),
                collection=decode_cell(CrawlFacts, facts).collection,
                state=decode_cell(CrawlState, state.value).state if state else OPEN,
                changed_ms=state.timestamp_ms if state else 0,
            )


def read_totals(store: RowStore, crawl: str, *, verb: str) -> CrawlTotals:
    """The sums of a crawl, and the time of the latest act of this verb.  One round trip."""
    row = get_row(store, TABLE, encode_crawl_key(crawl), columns=[b"f"])
    sums: Counter[str] = Counter()
    latest_ms = None
    for counts, time_ms in iter_counts(row) if row is not None else ():
        sums.update(counts.counts)
        if counts.verb == verb:
            latest_ms = max(time_ms, latest_ms or 0)
    return CrawlTotals(counts=sums, latest_ms=latest_ms)

"""Crawls in the catalogue: their collection, their state, what each act did to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from pinakes.errors import ConfigError, Conflict
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.columns import named_column
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.name_keys import ALL_CRAWLS, crawl_of, encode_crawl_key
from pinakes.hbase_schema.run_cells import ActCounts, CrawlFacts, CrawlState
from pinakes.row_store.port import Put, Row, RowStore, get_row

TABLE = "crawls"
HEAD = (CrawlFacts.COLUMN, CrawlState.COLUMN)
"""What a crawl is and how it stands, without the counts of its acts."""
OPEN = "open"
COMMITTED = "committed"
CANCELLING, CANCELLED = "cancelling", "cancelled"
REMOVING, REMOVED = "removing", "removed"
LEAVING = (CANCELLING, REMOVING)
GONE = (CANCELLED, REMOVED, "purged")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlEntry:
    """A crawl as the catalogue knows it; `counts` are summed over its acts."""

    crawl: str
    facts: CrawlFacts
    state: str
    counts: Mapping[str, int]


def read_crawl(store: RowStore, crawl: str) -> CrawlEntry | None:
    """What is known of a crawl; None where nothing is.  One round trip."""
    row = get_row(store, TABLE, encode_crawl_key(crawl))
    return _entry(row) if row is not None else None


def scan_crawls(store: RowStore) -> Iterator[CrawlEntry]:
    """All crawls, by name."""
    for row in store.scan(TABLE, ALL_CRAWLS):
        entry = _entry(row)
        if entry is not None:
            yield entry


def _entry(row: Row) -> CrawlEntry | None:
    facts, state = row.value(CrawlFacts.COLUMN), row.value(CrawlState.COLUMN)
    if facts is None:
        return None
    counts: Counter[str] = Counter()
    for one, _ in iter_counts(row):
        counts.update(one.counts)
    return CrawlEntry(
        crawl=row.key.decode("ascii"),
        facts=decode_cell(CrawlFacts, facts),
        state=decode_cell(CrawlState, state).state if state is not None else OPEN,
        counts=counts,
    )


def iter_counts(row: Row) -> Iterator[tuple[ActCounts, int]]:
    """What each act did to a crawl, and when, of its row."""
    for column, cell in row.cells.items():
        if column.startswith(ActCounts.COLUMN):
            yield decode_cell(ActCounts, cell.value), cell.timestamp_ms


def ensure_crawl(
    store: RowStore, crawl: str, facts: CrawlFacts, *, act: str, act_time_ms: int
) -> None:
    """Make the crawl known, if it is not; open it again, if it was taken out.

    Raises:
        Conflict: where it is being taken out.
        ConfigError: where it belongs to another collection: a crawl's captures share a
            dedupe scope.
    """
    key = encode_crawl_key(crawl)
    row = get_row(store, TABLE, key, columns=HEAD)  # not its counts: there is one for each file
    entry = _entry(row) if row is not None else None
    if entry is not None:
        if entry.facts.collection != facts.collection:
            raise ConfigError(
                f"the crawl {crawl} belongs to the collection {entry.facts.collection}, "
                f"not {facts.collection}"
            )
        if entry.state in LEAVING:
            raise _refusal(crawl, entry.state)
        if entry.state in GONE:
            change_crawl_state(store, crawl, (entry.state,), OPEN, act=act)
        return
    store.mutate(TABLE, [Put(key, {CrawlFacts.COLUMN: encode_cell(facts)}, act_time_ms)])
    set_crawl_state(store, crawl, OPEN, act=act)


def require_open(store: RowStore, crawl: str) -> None:
    """Raise Conflict unless files may land in the crawl.  One round trip.

    Landing asks behind its claim, and taking out looks for claims behind its change of
    state: so one of the two sees the other.
    """
    row = get_row(store, TABLE, encode_crawl_key(crawl), columns=[CrawlState.COLUMN])
    value = row.value(CrawlState.COLUMN) if row is not None else None
    state = decode_cell(CrawlState, value).state if value is not None else OPEN
    if state != OPEN:
        raise _refusal(crawl, state)


def _refusal(crawl: str, state: str) -> Conflict:
    if state in LEAVING:
        verb = "cancel" if state == CANCELLING else "remove"
        return Conflict(
            f"the crawl {crawl} is being taken out: finish that with `pinakes crawl {verb} {crawl}`"
        )
    return Conflict(f"the crawl {crawl} is {state}: land what is new in another crawl")


def change_crawl_state(
    store: RowStore, crawl: str, expected: Collection[str], state: str, *, act: str
) -> None:
    """Move the crawl from one of the expected states to another.

    Raises:
        Conflict: where it is in none of them, or somebody else moves it.
    """
    key = encode_crawl_key(crawl)
    row = get_row(store, TABLE, key, columns=[CrawlState.COLUMN])
    value = row.value(CrawlState.COLUMN) if row is not None else None
    now = decode_cell(CrawlState, value).state if value is not None else OPEN
    if now == state:
        return
    cell = encode_cell(CrawlState(state=state, act=act))
    if now not in expected or not store.check_and_put(
        TABLE, key, CrawlState.COLUMN, expected=value, value=cell
    ):
        raise Conflict(f"the crawl {crawl} is {now}, and cannot become {state}")


def set_crawl_state(store: RowStore, crawl: str, state: str, *, act: str) -> None:
    """Write the crawl's state."""
    cell = encode_cell(CrawlState(state=state, act=act))
    store.mutate(TABLE, [Put(encode_crawl_key(crawl), {CrawlState.COLUMN: cell}, None)])


def put_counts(
    store: RowStore, crawl: str, counts: ActCounts, *, act: str, act_time_ms: int
) -> None:
    """Write what an act did; again with the same act, it is the same cell."""
    column = named_column(ActCounts, act)
    store.mutate(TABLE, [Put(encode_crawl_key(crawl), {column: encode_cell(counts)}, act_time_ms)])


class LandedCounts(Protocol):
    """What is counted of a file that landed."""

    @property
    def size(self) -> int: ...

    @property
    def records(self) -> Mapping[str, int]: ...

    @property
    def captures(self) -> int: ...

    @property
    def damaged(self) -> int: ...


def put_landed_counts(
    store: RowStore, archive_file: str, landed: LandedCounts, *, act: str, act_time_ms: int
) -> None:
    """Count a file in its crawl, under the act that landed it, whoever ends that: so, once."""
    counts = {
        "files": 1,
        "bytes": landed.size,
        "records": sum(landed.records.values()),
        "captures": landed.captures,
        "damaged": landed.damaged,
    }
    cell = ActCounts(verb="ingest", counts=counts)
    put_counts(store, crawl_of(archive_file), cell, act=act, act_time_ms=act_time_ms)


def has_landed(store: RowStore, archive_file: str, facts: FileFacts) -> bool:
    """Whether the landing that wrote these facts came to its end: the crawl counts it."""
    column = named_column(ActCounts, facts.act)
    key = encode_crawl_key(crawl_of(archive_file))
    return get_row(store, TABLE, key, columns=[column]) is not None

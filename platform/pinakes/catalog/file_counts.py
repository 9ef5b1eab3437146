"""Counts of acts on a crawl, in the rows of its files.

One cell per act on a file, in that file's row: so a crawl of a hundred thousand files has no row
that grows with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import named_column
from pinakes.hbase_schema.file_cells import (
    ActCounts,
    FileFacts,
)
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.cells import decode_stored
from pinakes.row_store.port import Put, RowStore, get_row

from .file_rows import TABLE, Held, scan_file_rows
from .holdings import NOTHING_HELD, Holdings, holdings_of_file

LANDED_VERB = "ingest"


class LandedCounts(Protocol):
    """The counts of a landed file."""

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
    """Count a file under the act that landed it, so once, whichever process completes it."""
    counts = counts_of_landing(landed)
    _put(store, archive_file, ActCounts(verb=LANDED_VERB, counts=counts), act, act_time_ms)


def counts_of_landing(landed: LandedCounts) -> dict[str, int]:
    """What a landing counts of its file."""
    return {
        "files": 1,
        "bytes": landed.size,
        "records": sum(landed.records.values()),
        "captures": landed.captures,
        "damaged": landed.damaged,
    }


def put_removed_counts(store: RowStore, held: Held, *, verb: str, size: int, captures: int) -> None:
    """Count a landed file that is taken out, under the act that takes it out."""
    counts = {"removed_files": 1, "removed_bytes": size, "removed_captures": captures}
    cell = ActCounts(verb=verb, counts=counts)
    _put(store, held.archive_file, cell, held.claim.act, held.claim.act_time_ms)


def put_withdrawn_counts(store: RowStore, held: Held, *, verb: str, records: int) -> None:
    """Count the records of a file for which an act puts tombstones."""
    cell = ActCounts(verb=verb, counts={"withdrawn_records": records})
    _put(store, held.archive_file, cell, held.claim.act, held.claim.act_time_ms)


def _put(store: RowStore, archive_file: str, cell: ActCounts, act: str, act_time_ms: int) -> None:
    cells = {named_column(ActCounts, act): encode_cell(cell)}
    store.mutate(TABLE, [Put(encode_file_key(archive_file), cells, act_time_ms)])


def has_landed(store: RowStore, archive_file: str, facts: FileFacts) -> bool:
    """Whether the landing that wrote these facts has finished: then it is counted."""
    column = named_column(ActCounts, facts.act)
    return get_row(store, TABLE, encode_file_key(archive_file), columns=[column]) is not None


@dataclass(slots=True)
class CrawlTotals:
    """Sums over all acts on the files of a crawl.

    `latest_ms` is when the latest landing began, None if nothing has landed; `acts` in
    `by_verb` counts the acts of each verb, one per file.  `holdings` is what is stored now.
    """

    counts: Counter[str] = field(default_factory=Counter)
    by_verb: dict[str, Counter[str]] = field(default_factory=dict)
    latest_ms: int | None = None
    holdings: Holdings = NOTHING_HELD

    def add(self, cell: ActCounts, time_ms: int) -> None:
        """Count one act."""
        self.counts.update(cell.counts)
        verb = self.by_verb.setdefault(cell.verb, Counter())
        verb["acts"] += 1
        verb.update(cell.counts)
        if cell.verb == LANDED_VERB:
            self.latest_ms = max(time_ms, self.latest_ms or 0)


def read_totals(store: RowStore, crawl: str) -> CrawlTotals:
    """The sums of a crawl.  The cost grows with its files: callers should cache it."""
    totals = CrawlTotals()
    for row in scan_file_rows(store, crawl):
        for column, cell in row.cells.items():
            if column.startswith(ActCounts.COLUMN):
                counts = decode_stored(ActCounts, TABLE, row.key, column, cell.value)
                totals.add(counts, cell.timestamp_ms)
        totals.holdings += holdings_of_file(row)
    return totals

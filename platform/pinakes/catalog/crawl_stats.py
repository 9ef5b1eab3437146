"""Counts of a crawl's records, from its sidecars."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore

from .file_records import iter_known_rows, stored_names
from .file_rows import entry_of, generations_of, scan_file_rows
from .holdings import NOTHING_HELD, Holdings, holdings_of_file
from .sidecar import SidecarRow


@dataclass(slots=True)
class CrawlStats:
    """Counts of what is stored now; `types` counts replaced records as revisits."""

    holdings: Holdings = NOTHING_HELD
    captures: int = 0
    types: Counter[str] = field(default_factory=Counter)
    bytes_by_type: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    media_types: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)

    def add(self, row: SidecarRow) -> None:
        """Count one record."""
        kind = "revisit" if row.is_replaced else row.type or "unknown"
        self.types[kind] += 1
        self.bytes_by_type[kind] += row.length
        if row.row_key is None:
            return
        self.captures += 1
        self.statuses["none" if row.status is None else str(row.status)] += 1
        self.media_types[(row.media_type or "none").lower()] += 1
        if row.skip:
            self.skips[row.skip] += 1


def count_crawl(store: RowStore, archive: ArchiveReader, crawl: str) -> CrawlStats:
    """Count a crawl's records."""
    stats = CrawlStats()
    for row in scan_file_rows(store, crawl):
        entry = entry_of(row)
        if entry.state is not FileState.STORED or entry.facts is None:
            continue
        stats.holdings += holdings_of_file(row)
        names = stored_names(entry, generations_of(row))
        for record in iter_known_rows(archive, names) or ():
            stats.add(record)
    return stats

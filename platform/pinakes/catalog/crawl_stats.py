"""Counts of a crawl's records, from its sidecars."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore

from .file_records import iter_known_rows, read_generations, stored_names
from .file_rows import scan_entries
from .sidecar import SidecarRow


@dataclass(slots=True)
class CrawlStats:
    """Counts of the records that are stored now.

    `stored_bytes` is the size of the current generations, `landed_bytes` that of the files as
    landed.
    """

    files: int = 0
    landed_bytes: int = 0
    stored_bytes: int = 0
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
    for entry in scan_entries(store, crawl):
        if entry.state is not FileState.STORED or entry.facts is None:
            continue
        generations = read_generations(store, entry.archive_file)
        stats.files += 1
        stats.landed_bytes += entry.facts.size
        current = generations.get(entry.generation)
        stats.stored_bytes += current.size if current is not None else entry.facts.size
        for row in iter_known_rows(archive, stored_names(entry, generations)) or ():
            stats.add(row)
    return stats

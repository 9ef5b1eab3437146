"""The counts that Browsertrix keeps of a crawl, computed from what is stored now.

Source: browsertrix-crawler, docs/docs/develop/dedupe.md (`h:${crawlid}:counts`).  There they are
counters, changed as records are written; here nothing is counted until it is asked for, so that a
crawl that was deduplicated, purged from or taken down in is counted as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.capture_cells import FIRST_GENERATION
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore

from .captures import CaptureRow, Placed, place_each
from .file_records import iter_known_rows, read_generations, stored_names
from .file_rows import FileEntry, scan_entries
from .requirements import iter_referring
from .sidecar import SidecarRow
from .wacz_rows import scan_wacz_files

_COUNTED = ("response", "revisit")
_BATCH_ROWS = 500


@dataclass(slots=True)
class BrowsertrixCounts:
    """`total_crawl_size`: bytes of its WACZ files, and of archive files that came without one.

    `total_urls` are its responses and revisits, `dupe_urls` its revisits, by crawlers and by
    `dedupe`.  `conserved_size` sums by how much the compressed record of each revisit is smaller
    than the full one of its original, where that is in the store: both as they are, the latter as
    it landed where it is a revisit now.
    """

    total_crawl_size: int = 0
    total_urls: int = 0
    dupe_urls: int = 0
    conserved_size: int = 0

    def add(self, other: BrowsertrixCounts) -> None:
        """Add those of another crawl."""
        self.total_crawl_size += other.total_crawl_size
        self.total_urls += other.total_urls
        self.dupe_urls += other.dupe_urls
        self.conserved_size += other.conserved_size

    def as_json(self) -> dict[str, int]:
        """Under the names that Browsertrix has for them."""
        return {
            "totalCrawlSize": self.total_crawl_size,
            "totalUrls": self.total_urls,
            "dupeUrls": self.dupe_urls,
            "conservedSize": self.conserved_size,
        }


def count_as_browsertrix(
    store: RowStore, archive: ArchiveReader, crawl: str, collection: str
) -> BrowsertrixCounts:
    """Count what is stored of a crawl.

    Reads its sidecars, those with revisits twice, and for some hundred revisits a few rows at
    once.
    """
    counts = BrowsertrixCounts()
    for listed in scan_wacz_files(store, collection, crawl):
        # What landed of it is counted as a part of it, and not as archive files.
        counts.total_crawl_size += listed.wacz.size - (listed.wacz.landed_bytes or 0)
    for entry in scan_entries(store, crawl):
        if entry.state is not FileState.STORED or entry.facts is None:
            continue
        counts.total_crawl_size += entry.facts.size
        duplicates = counts.dupe_urls
        for row in _rows_of(store, archive, entry):
            if _counts(row):
                counts.total_urls += 1
                counts.dupe_urls += row.type == "revisit" or row.is_replaced
        if counts.dupe_urls > duplicates:
            counts.conserved_size += _conserved(store, archive, entry)
    return counts


def _rows_of(store: RowStore, archive: ArchiveReader, entry: FileEntry) -> Iterator[SidecarRow]:
    names = stored_names(entry, read_generations(store, entry.archive_file))
    return iter_known_rows(archive, names) or iter(())


def _counts(row: SidecarRow) -> bool:
    is_counted = row.row_key is not None and row.type in _COUNTED
    return is_counted and not (row.target_uri or "").startswith("urn:")


def _conserved(store: RowStore, archive: ArchiveReader, entry: FileEntry) -> int:
    resolved = (
        one for one in iter_referring(store, archive, entry) if one.resolves and _counts(one.row)
    )
    conserved = 0
    while batch := list(islice(resolved, _BATCH_ROWS)):
        placed = place_each(store, [one.targets[0] for one in batch])
        for one, (original, place) in zip(batch, placed, strict=True):
            conserved += max(0, _full_length(original, place) - one.row.length)
    return conserved


def _full_length(original: CaptureRow, place: Placed | None) -> int:
    """The length of its full record, in compressed bytes: as it is now, since a purge may have made
    that of a revisit; of one that `dedupe` has made a revisit, as it landed."""
    if place is not None and not original.is_duplicate:
        return place.location.length
    landed = original.locations.get(FIRST_GENERATION)
    return landed.length if landed is not None else 0

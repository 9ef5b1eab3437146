"""References to the records of a crawl, found from the records (`reference_finder`).

Of other crawls nothing is scanned, but the sidecars of files that lead to no such rows: those
with crawlers' revisits that an older version landed, until `fsck --repair`, and those that an act
left before it ended, whose rows may be ahead of them.

Rows may be lost, or wrong.  What takes a crawl away asks besides what all files of the collection
that stay say themselves: their sidecars, held against their bytes (`proven_sidecars`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.counts import count_of
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .captures import get_captures
from .file_records import iter_known_rows, read_generations, stored_names
from .file_rows import FileEntry, scan_entries
from .proven_sidecars import ProvenSidecars
from .reference_finder import CrawlRecordNames, CrossCrawlReference, ReferenceFinder
from .revisit_targets import FULL
from .sidecar import SidecarRow

_BATCH_ROWS = 500


def scan_references(
    store: RowStore,
    archive: ArchiveReader,
    crawl: str,
    collection: str,
    *,
    proven: ProvenSidecars | None = None,
) -> Iterator[CrossCrawlReference]:
    """Yield captures of other crawls of the collection that refer to captures of this one.

    A crawler's revisit that also resolves to a full record outside the crawl does not count.
    Reads the crawl's sidecars.  Round trips: for some hundred captures of the crawl one, and a
    few for those that are pinned; where crawlers' revisits are in the collection, a few for every
    fifty captures; one or two for each such revisit that is found.

    `proven`: reads the sidecars of all other files of the collection, too, and the heads of all
    their records: for who deletes what nothing refers to.

    Raises:
        DigestMismatch: with `proven`, where what a file refers to is not known for sure.
    """
    finder = ReferenceFinder(store, crawl, collection)
    asked = [
        entry
        for entry in _others(store, crawl, collection)
        if proven is not None or _leads_to_no_rows(entry)
    ]
    names = CrawlRecordNames()
    for entry in scan_entries(store, crawl):
        full = _full_rows(_rows_of_leaving(store, archive, entry, proven))
        while batch := list(islice(full, _BATCH_ROWS)):
            if proven is not None and entry.state is FileState.STORED:
                _require_rows(store, batch, entry)
            if asked:
                for row in batch:
                    names.add(row, entry.archive_file)
            yield from finder.references_to(batch)
    for entry in asked:
        rows = (
            row
            for row in _rows_of(store, archive, entry, proven)
            if row.row_key is not None and names.may_be_meant(row)
        )
        while batch := list(islice(rows, _BATCH_ROWS)):
            yield from finder.references_of(
                batch, names, entry.archive_file, is_proven=proven is not None
            )


def _require_rows(store: RowStore, batch: Sequence[SidecarRow], entry: FileEntry) -> None:
    """Raise DigestMismatch where captures of a file have lost their rows: what refers to them is
    found, and led elsewhere, by these."""
    keys = [row.row_key for row in batch if row.row_key is not None]
    there = get_captures(store, keys)
    missing = sum(key not in there for key in keys)
    if missing:
        raise DigestMismatch(
            f"rows of {count_of(missing, 'capture')} in it are lost, and nothing is deleted: "
            "`pinakes fsck --repair` writes them again",
            file=entry.stored_name,
        )


def _others(store: RowStore, crawl: str, collection: str) -> Iterator[FileEntry]:
    """The stored files of other crawls; also those of which the collection is not known."""
    for entry in scan_entries(store):
        may_be_of_it = entry.facts is None or entry.facts.collection == collection
        is_other = crawl_of(entry.archive_file) != crawl
        if is_other and may_be_of_it and entry.state is FileState.STORED:
            yield entry


def _leads_to_no_rows(entry: FileEntry) -> bool:
    is_claimed = entry.unfinished_act is not None
    return entry.facts is not None and (entry.holds_unkept_revisits or is_claimed)


def _rows_of(
    store: RowStore, archive: ArchiveReader, entry: FileEntry, proven: ProvenSidecars | None
) -> Iterator[SidecarRow]:
    if proven is not None:
        return proven.rows(entry.stored_name)
    names = stored_names(entry, read_generations(store, entry.archive_file))
    return iter_known_rows(archive, names) or iter(())


def _rows_of_leaving(
    store: RowStore, archive: ArchiveReader, entry: FileEntry, proven: ProvenSidecars | None
) -> Iterator[SidecarRow]:
    if entry.facts is None:
        return iter(())
    if entry.state is not FileState.STORED or proven is None:
        # Where it is leaving already, an earlier act has asked.
        return _rows_of(store, archive, entry, None)
    names = stored_names(entry, read_generations(store, entry.archive_file))
    return proven.rows_of_leaving(entry, names)


def _full_rows(rows: Iterable[SidecarRow]) -> Iterator[SidecarRow]:
    """The captures that landed as full records."""
    return (row for row in rows if row.row_key is not None and row.type in FULL)

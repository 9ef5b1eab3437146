"""The queue of an import: filling it from sources, working it off, and what a manifest lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

from pinakes.catalog.crawl_rows import GONE, LEAVING, scan_crawls
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.wacz_rows import (
    ListedWacz,
    QueueEntry,
    add_to_queue,
    scan_queue,
    scan_wacz_files,
)
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.wacz_cells import QueuedWacz, WaczPlace
from pinakes.row_store.port import RowStore

from .importing import CRAWL_SOURCE, FAILURES, Imported
from .sources import WaczSource

_BATCH = 1000
Found = QueueEntry | WaczPlace | None


class Queued(NamedTuple):
    """A source, and what there was of it: its row in the queue, its crawl, or nothing."""

    source: WaczSource
    found: Found


def queue_sources(
    rows: RowStore, collection: str, sources: Iterable[WaczSource | InputRefused], *, act: str
) -> Iterator[Queued | InputRefused]:
    """Queue sources, a thousand at a time, and yield what there was of each; refusals as given.

    A source with a declared SHA-256 that a crawl has is not queued; one that is queued stays.
    """
    sources = iter(sources)
    while batch := list(islice(sources, _BATCH)):
        good = [source for source in batch if isinstance(source, WaczSource)]
        waczs = [
            QueuedWacz(
                place=source.place,
                name=source.name,
                crawl=source.crawl,
                act=act,
                sha256=source.sha256,
                size=source.size,
                origin=source.origin,
            )
            for source in good
        ]
        found = iter(add_to_queue(rows, collection, waczs))
        for source in batch:
            if isinstance(source, WaczSource):
                yield Queued(source, next(found))
            else:
                yield source


class Worked(NamedTuple):
    """What became of one of the queue; an error, where it has failed or another process has it."""

    entry: QueueEntry
    outcome: Imported | PinakesError


def work_off(
    rows: RowStore,
    collection: str,
    import_one: Callable[[QueueEntry], Imported | None],
    *,
    act: str,
    retry: bool,
    wait: Callable[[], None],
) -> Iterator[Worked]:
    """Import what is queued until nothing is; those that failed once more, if `retry`.

    Those that another process has are looked at again, after `wait`, until they are done there,
    or left.
    """
    while True:
        busy = False
        worked = False
        for entry in scan_queue(rows, collection):
            if entry.failure is not None and (not retry or entry.failure.act == act):
                continue
            try:
                imported = import_one(entry)
            except Busy as problem:
                busy = True
                yield Worked(entry, problem)
                continue
            except FAILURES as problem:
                yield Worked(entry, problem)
            else:
                if imported is not None:
                    yield Worked(entry, imported)
            worked = True
        if not busy and not worked:
            return
        if not worked:
            wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCrawl:
    """An imported crawl of which a later manifest names not every WACZ file."""

    crawl: str
    waczs: tuple[ListedWacz, ...]
    """Those that it does not name."""
    is_whole: bool
    """Whether it names none, nor another of the crawl."""
    other_files: int = 0
    """Of a whole one, files of the crawl that came with none of its WACZ files."""

    @property
    def size(self) -> int:
        """The sizes of these WACZ files."""
        return sum(one.wacz.size for one in self.waczs)


def scan_missing(
    rows: RowStore, collection: str, named: Iterable[tuple[str, str]]
) -> Iterator[MissingCrawl]:
    """The imported crawls of a collection that are not among these, wholly or in part; none in
    which nothing has landed.

    `named` are crawls and paths of WACZ files in them, as the store has them, sorted.  Memory:
    those of a crawl.
    """
    groups = groupby(named, key=itemgetter(0))
    crawl, group = next(groups, (None, None))
    for entry in scan_crawls(rows):
        if entry.facts.collection != collection or entry.facts.source != CRAWL_SOURCE:
            continue
        if entry.state in GONE:
            continue
        while crawl is not None and crawl < entry.crawl:
            crawl, group = next(groups, (None, None))
        names = {name for _, name in group or ()} if crawl == entry.crawl else set()
        listed = list(scan_wacz_files(rows, collection, entry.crawl))
        left = tuple(one for one in listed if one.name not in names)
        if not names:
            others = _other_files(rows, entry.crawl, [one.name for one in listed])
            # Else nothing has ever landed in it: its WACZ file failed, or lands just now.
            if listed or others or entry.state in LEAVING:
                yield MissingCrawl(crawl=entry.crawl, waczs=left, is_whole=True, other_files=others)
        elif left:
            yield MissingCrawl(crawl=entry.crawl, waczs=left, is_whole=False)


def _other_files(rows: RowStore, crawl: str, waczs: Sequence[str]) -> int:
    own = {archive_file(crawl, name) for name in waczs}
    beginnings = tuple(f"{name}/" for name in own)
    return sum(
        entry.state is FileState.STORED
        and entry.archive_file not in own
        and not entry.archive_file.startswith(beginnings)
        for entry in scan_entries(rows, crawl)
    )

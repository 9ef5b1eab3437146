"""Archive files of which the catalogue knows nothing: they may refer to anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .crawl_rows import require_crawls_there, scan_crawls
from .file_records import known_names, read_generations, unfinished_names
from .file_rows import scan_entries
from .kept_dictionaries import parse_kept_name
from .leftovers import require_nothing_more
from .sidecar import sidecar_name

_SIDECAR = sidecar_name("")


def iter_unknown_files(
    store: RowStore, archive: ArchiveStore, crawl: str | None = None
) -> Iterator[str]:
    """Yield the stored files, of a crawl or all, that are no generation of a file in the catalogue.

    The next generation of a claimed file is known: an act may have published it.  Two scans;
    memory: the names of all generations, twice.
    """
    there, known = _names(store, archive, crawl)
    yield from (name for name in there if name not in known)


def name_unknown_files(
    store: RowStore, archive: ArchiveStore, crawls: Iterable[str | None] = (None,)
) -> Iterator[InputRefused]:
    """Yield a problem for each unknown file of these crawls, or all: acts leave it out."""
    for crawl in crawls:
        for name in iter_unknown_files(store, archive, crawl):
            yield unknown_file(name)


def _names(
    store: RowStore, archive: ArchiveStore, crawl: str | None
) -> tuple[Iterable[str], dict[str, str | None]]:
    """The files that are there, and the names that generations have.

    A name that the next generation of a claimed file may have leads to the current one: an act may
    have published it, also one that died.  Where a file is not claimed, no act has.
    """
    there = dict.fromkeys(
        stored.name
        for stored in archive.list(crawl or "")
        if not stored.name.endswith(_SIDECAR) and parse_kept_name(stored.name) is None
    )
    of_each = Counter(generation_of(name).archive_file for name in there)
    known: dict[str, str | None] = {}
    # After the list: what has landed in between is known.
    for entry in scan_entries(store, crawl):
        # A file whose state is lost is not known, even if its row says more: readers do not see it.
        if not (entry.is_in_flight or entry.state is FileState.STORED):
            continue
        known[entry.stored_name] = None
        beside = of_each[entry.archive_file] - (entry.stored_name in there)
        if not beside:
            continue
        generations = read_generations(store, entry.archive_file)
        known.update(dict.fromkeys(known_names(entry, generations, is_unfinished=False)))
        if entry.unfinished_act is not None:
            unfinished = unfinished_names(entry, generations)
            known.update(dict.fromkeys(unfinished, entry.stored_name))
    return there, known


def unknown_file(name: str) -> InputRefused:
    """The problem that the catalogue does not have a file, or not all that it had noted of it."""
    return InputRefused("the catalogue does not know this file: see `pinakes fsck`", file=name)


def require_collection_known(
    store: RowStore, archive: ArchiveStore, collection: str, *, crawl: str | None
) -> None:
    """Raise DigestMismatch where the archive holds a file that the catalogue does not know, of a
    crawl of this collection, or of a crawl without a row: before records are replaced that it may
    refer to.  Without `crawl` all crawls are asked for: also where the row of one is lost.
    """
    if crawl is None:
        require_crawls_there(store, collection=collection)
    collections = {crawl.crawl: crawl.facts.collection for crawl in scan_crawls(store)}
    for name in iter_unknown_files(store, archive):
        if collections.get(crawl_of(name), collection) == collection:
            raise _unknown(name)


def _unknown(name: str) -> DigestMismatch:
    return DigestMismatch(
        "the catalogue does not know this file, and it may refer to what is to go: see "
        "`pinakes fsck`; nothing was changed",
        file=name,
    )


def require_all_known(store: RowStore, archive: ArchiveStore, *, act: str | None = None) -> None:
    """Raise DigestMismatch where the archive holds a file that the catalogue does not know: before
    something is taken away that it may refer to.

    Of what an act that died has left of a next generation both are read: where it alone holds a
    record whole, or another act than `act` has withdrawn records in it, the rows may have been put
    back old, and its references count.
    """
    there, known = _names(store, archive, None)
    for name in there:
        if name not in known:
            raise _unknown(name)
        current = known[name]
        if current is not None:
            require_nothing_more(store, archive, name, current, act=act)

"""Archive files of which the catalogue knows nothing: they may refer to anything."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore

from .file_records import known_names, read_generations
from .file_rows import scan_entries
from .kept_dictionaries import parse_kept_name
from .sidecar import sidecar_name

_SIDECAR = sidecar_name("")


def iter_unknown_files(store: RowStore, archive: ArchiveStore) -> Iterator[str]:
    """Yield the stored files that are no generation of a file in the catalogue.

    The next generation of a file is known: an act may have published it.  Two scans; memory: the
    names of all generations.
    """
    there = [
        stored.name
        for stored in archive.list()
        if not stored.name.endswith(_SIDECAR) and parse_kept_name(stored.name) is None
    ]
    known: set[str] = set()
    # Behind the list: what has landed in between is known.
    for entry in scan_entries(store):
        is_gone = entry.state is not None and entry.state.is_gone
        if not (entry.state is FileState.REFUSED or is_gone):
            generations = read_generations(store, entry.archive_file)
            known.update(known_names(entry, generations, is_unfinished=True))
    yield from (name for name in there if name not in known)


def require_all_known(store: RowStore, archive: ArchiveStore) -> None:
    """Raise DigestMismatch where the archive holds a file that the catalogue does not know: before
    something is taken away that it may refer to."""
    for name in iter_unknown_files(store, archive):
        raise DigestMismatch(
            "the catalogue does not know this file, and it may refer to what is to go: see "
            "`pinakes fsck`; nothing was changed",
            file=name,
        )

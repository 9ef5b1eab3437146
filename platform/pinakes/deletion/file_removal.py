"""Take one file out: hide it, delete rows, bytes and sidecars; each step can be repeated.

    claimed, in flight, `leaving` ─▶ rows ─▶ `left` ─▶ bytes, sidecars ─▶ `removed`

Rows are found through sidecars, and deleted with the time of an act that is later than all acts
that wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pinakes.acts.act import Act
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_counts import has_landed, put_removed_counts
from pinakes.catalog.file_records import (
    iter_known_rows,
    read_generations,
    read_rows_anew,
    stored_names,
)
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    read_entry,
    release_claim,
    require_claim,
    set_inflight,
    set_state,
)
from pinakes.catalog.row_deletion import RowName, delete_rows, rows_of_records, scan_rows_of
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ConfigError
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .requests import RemovedFile

VERB = "remove"


def content_of(rows: RowStore, archive: ArchiveReader, entry: FileEntry) -> RemovedFile:
    """What a file contains, as it is now."""
    captures = entry.facts.captures if entry.facts is not None else 0
    names = stored_names(entry, read_generations(rows, entry.archive_file))
    return RemovedFile(captures, sum(archive.size(name) or 0 for name in names))


class FileRemover:
    """Takes single files out, in one act.  Not for several threads."""

    def __init__(self, act: Act, *, discard: Callable[[str], None] | None = None) -> None:
        """`discard` takes a file of the archive away; it is deleted otherwise."""
        self._act = act
        self._rows = act.rows
        self._archive = act.archive
        self._discard = discard or act.archive.delete

    def hide(self, archive_file: str) -> None:
        """Hide a file that `remove` will take out; its claim is kept.

        Raises:
            Conflict: another process works on it.
        """
        self._leave(self._act.claim(archive_file))

    def _leave(self, held: Held) -> FileState:
        """Hide the file; return its state, `left` if an earlier act came that far."""
        set_inflight(self._rows, held, FileState.LEAVING)
        self._act.at("hidden")
        was = read_entry(self._rows, held.archive_file).state
        if was is FileState.LEFT:
            return was
        set_state(self._rows, held, was, FileState.LEAVING)
        self._act.at("leaving")
        return FileState.LEAVING

    def delete_strays(self, entries: Iterable[FileEntry]) -> None:
        """Delete rows of landings that died before sidecar and bytes: one scan for all."""
        lost = [
            self._act.claim(entry.archive_file)
            for entry in entries
            if entry.state is not FileState.LEFT and not self._has_records(entry)
        ]
        if not lost:
            return
        times = {held.archive_file: held.claim.act_time_ms for held in lost}
        delete_rows(self._rows, scan_rows_of(self._rows, times), times)
        for held in lost:
            set_state(self._rows, held, FileState.LEAVING, FileState.LEFT)
        self._act.at("strays")

    def _has_records(self, entry: FileEntry) -> bool:
        names = self._names(entry)
        return (
            any(self._archive.size(sidecar_name(name)) is not None for name in names)
            or self._archive.size(entry.archive_file) is not None
        )

    def _names(self, entry: FileEntry) -> list[str]:
        return stored_names(entry, read_generations(self._rows, entry.archive_file))

    def remove(self, held: Held, *, with_pins: bool = False) -> RemovedFile:
        """Take out a file whose claim is held: rows, bytes of all generations, sidecars.

        The claim is released at the end; after an error it is not: by it the file is known to be
        unfinished, also when its state says that it is gone.
        `with_pins`: nothing refers to the file; the pins of a landing that did not end stay even
        so, for they are of an earlier one.
        """
        state = self._leave(held)
        entry = read_entry(self._rows, held.archive_file)
        names = self._names(entry)
        content = content_of(self._rows, self._archive, entry)
        landed = entry.facts is not None and has_landed(self._rows, entry.archive_file, entry.facts)
        if state is not FileState.LEFT:
            times = {entry.archive_file: held.claim.act_time_ms}
            gone = self._row_names(entry, names, held)
            delete_rows(self._rows, gone, times, with_pins=with_pins and landed)
            self._act.at("rows")
            require_claim(self._rows, held)
            set_state(self._rows, held, state, FileState.LEFT)
            self._act.at("left")
        self._act.wait_until_unpinned()
        require_claim(self._rows, held)
        for name in names:
            if landed or self._is_ours(name, entry):
                self._discard(name)
            self._act.at("bytes")
            self._discard(sidecar_name(name))
            self._act.at("sidecar")
        self._finish(held, entry, landed=landed)
        return content

    def _is_ours(self, name: str, entry: FileEntry) -> bool:
        """Whether the stored bytes are those of this unfinished landing.

        It may have been refused because of another file of that name, which must stay.
        """
        if entry.facts is None or self._archive.size(name) != entry.facts.size:
            return False
        return self._archive.checksum(name) == entry.facts.sha256

    def _row_names(self, entry: FileEntry, names: list[str], held: Held) -> Iterable[RowName]:
        known = iter_known_rows(self._archive, names)
        if known is None and self._archive.size(entry.archive_file) is not None:
            act_time_ms = held.claim.act_time_ms
            known = read_rows_anew(self._archive, entry.archive_file, act_time_ms=act_time_ms)
        if known is None:
            return scan_rows_of(self._rows, {entry.archive_file})
        return rows_of_records(known, entry.archive_file, self._collection_of(entry))

    def _collection_of(self, entry: FileEntry) -> str:
        if entry.facts is not None:
            return entry.facts.collection
        crawl = read_crawl(self._rows, crawl_of(entry.archive_file))
        if crawl is None:
            raise ConfigError(f"{entry.archive_file} belongs to no known crawl: run fsck")
        return crawl.facts.collection

    def _finish(self, held: Held, entry: FileEntry, *, landed: bool) -> None:
        if landed and entry.facts is not None:
            size, captures = entry.facts.size, entry.facts.captures
            put_removed_counts(self._rows, held, verb=VERB, size=size, captures=captures)
        set_state(self._rows, held, FileState.LEFT, FileState.REMOVED)
        self._act.at("gone")
        set_inflight(self._rows, held, None)
        self._act.at("out of flight")
        release_claim(self._rows, held)

"""Room for new generations: rewriting goes in batches bounded by `--max-extra-bytes`.

A file's old generations lie beside its current one until they are dropped.  What that takes
is counted as it lies in the archive, whichever run wrote it; so a run that was killed, and
the next one of a collection, go on with the same count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import older_names
from pinakes.catalog.file_rows import FileEntry
from pinakes.errors import ONE_FILE_ONLY, PinakesError

Drop = Callable[[Iterable[FileEntry]], Iterable[object]]
"""Drops the old generations of these files, where the grace time allows."""


def extra_bytes(archive: ArchiveReader, entry: FileEntry) -> int:
    """What a file's generations take beyond the oldest one that is still there."""
    names = (*older_names(entry), entry.stored_name)
    sizes = [size for size in map(archive.size, names) if size is not None]
    return sum(sizes[1:])


class Room:
    """What a run may still write.  Not for several threads."""

    def __init__(
        self,
        archive: ArchiveReader,
        entries: Callable[[], Iterable[FileEntry]],
        *,
        limit_bytes: int | None,
        drop: Drop | None,
    ) -> None:
        """`entries` reads the collection's files as they are now; None: no limit, no dropping."""
        self._archive = archive
        self._entries = entries
        self._limit_bytes = limit_bytes
        self._drop = drop
        self._used_bytes = self._measure()
        self.is_closed = False
        self.problems: list[PinakesError] = []

    def _measure(self) -> int:
        if self._limit_bytes is None:
            return 0
        rewritten = (entry for entry in self._entries() if entry.generation > 1)
        return sum(extra_bytes(self._archive, entry) for entry in rewritten)

    def could_ever_hold(self, size: int) -> bool:
        """Whether so many bytes are within the limit, with nothing else there."""
        return self._limit_bytes is None or size <= self._limit_bytes

    def make(self, size: int) -> bool:
        """Whether so many bytes may be written; drops old generations where they may not.

        Once that does not help, the room is closed: the rest waits for another run.
        """
        if self._limit_bytes is None:
            return True
        if self._drop is not None and not self.is_closed and not self.holds(size):
            self.problems += drop_each(self._drop, self._entries())
            self._used_bytes = self._measure()
        self.is_closed = self.is_closed or not self.holds(size)
        return not self.is_closed

    def holds(self, size: int) -> bool:
        """Whether so many bytes are within the limit as things are."""
        return self._limit_bytes is None or self._used_bytes + size <= self._limit_bytes

    def take(self, size: int) -> None:
        """Note that so many bytes were written."""
        self._used_bytes += size


def drop_each(drop: Drop, entries: Iterable[FileEntry]) -> Iterator[PinakesError]:
    """Drop file by file; yield why one could not be: the others are dropped all the same."""
    for entry in entries:
        try:
            for _ in drop([entry]):
                """Each has the place where `drop` was made."""
        except ONE_FILE_ONLY as problem:
            yield problem

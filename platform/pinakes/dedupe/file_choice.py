"""Which of the files that have duplicates a run rewrites: those where it is worth while."""

from __future__ import annotations

from collections.abc import Container, Sequence

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import FileEntry
from pinakes.rewrite.generations import current_name

from .decided_records import Pair
from .run_report import WANTS_ROOM, DedupeRequest
from .waves import Room

# What a revisit takes, about: where a file would save too little is told before it is written.
_REVISIT_BYTES = 700


class FileChoice:
    """The rules, and what they need to look at."""

    def __init__(
        self, archive: ArchiveReader, request: DedupeRequest, moved: Container[str], room: Room
    ) -> None:
        """`moved` are the files that are not current any more as they were decided on."""
        self._archive = archive
        self._request = request
        self._moved = moved
        self._room = room

    def why_not(self, entry: FileEntry, pairs: Sequence[Pair]) -> str | None:
        """Why this file is left as it is, but for want of room; None where it is not."""
        size = self._archive.size(current_name(entry))
        if entry.state != "stored" or size is None:
            return "not stored any more"
        if entry.archive_file in self._moved:
            return None
        if _saving(pairs) < self._request.min_file_saving * size:
            return "min-file-saving"
        if not self._room.could_ever_hold(self.new_size(entry, pairs)):
            return "larger than max-extra-bytes"
        return None

    def new_size(self, entry: FileEntry, pairs: Sequence[Pair]) -> int:
        """What its new generation takes, about; in bytes."""
        if entry.archive_file in self._moved:
            return 0
        return (self._archive.size(current_name(entry)) or 0) - _saving(pairs)

    def why_no_room(self, entry: FileEntry, pairs: Sequence[Pair]) -> str | None:
        """Why this file has to wait; drops old generations where that may help."""
        return None if self._room.make(self.new_size(entry, pairs)) else WANTS_ROOM


def _saving(pairs: Sequence[Pair]) -> int:
    return sum(max(line.length - _REVISIT_BYTES, 0) for line, _ in pairs)

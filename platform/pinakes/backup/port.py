"""What a profile implements for backups: snapshots, and restoring rows.

    take: rows at one moment ─▶ files, none of which may be deleted in between ─▶ copied later

Tables may be snapshotted at different moments, but in this order: `captures`, `digests`,
`qa_pairs`; `crawls`; `files`; `inflight`, `runs`.  `recovery` relies on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pinakes.archive_store.port import ArchiveStore
from pinakes.row_store.port import RowStore

from .contents import FileLine


class Snapshots(Protocol):
    """Snapshots of the rows and files of one store, named by acts."""

    def take(self, act: str, unpin: Callable[[], None]) -> None:
        """Take a snapshot of the rows, then of the files.

        The store is pinned; `unpin` is called once the pin is no longer needed, and raises
        Conflict if it did not hold all the time.
        """
        ...

    def is_taken(self, act: str) -> bool:
        """Whether that snapshot exists and is complete."""
        ...

    def has_sound_rows(self, act: str) -> bool:
        """Whether the rows of a complete snapshot are those that it was taken with; reads them."""
        ...

    def acts(self) -> list[str]:
        """All snapshots, complete or not."""
        ...

    def archive(self, act: str) -> ArchiveStore:
        """The files of a snapshot, for reading and listing."""
        ...

    def rows(self, act: str) -> ArchiveStore:
        """The rows of a snapshot, as files for reading and listing."""
        ...

    def drop(self, act: str) -> None:
        """Delete a snapshot; it may be missing."""
        ...


class RowsRestorer(Protocol):
    """Restores the rows of a backup into an empty store."""

    def require_empty(self) -> None:
        """Raise ConfigError unless the store is empty, or has an unfinished restore."""
        ...

    def restore(
        self,
        backup: ArchiveStore,
        lines: Sequence[FileLine],
        require_ours: Callable[[RowStore], None],
    ) -> None:
        """Restore the rows, hidden if the profile supports it.  Idempotent.

        `require_ours(rows)` raises where rows that a call which died has left are of another
        backup.
        """
        ...

    def open(self) -> RowStore:
        """Open the restored rows, in the schema of this Pinakes."""
        ...

    def finish(self) -> None:
        """Make the restored rows visible."""
        ...

"""What a profile brings to a backup: a moment held fast, and rows put back.

    take: rows at one moment ─▶ files, of which none may go in between ─▶ copied at leisure

Rows of several tables need not be of one moment, but of moments in this order: `captures`,
`digests`, `qa_pairs`; `crawls`; `files`; `inflight`, `runs`.  `settling` counts on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pinakes.archive_store.port import ArchiveStore
from pinakes.row_store.port import RowStore

from .contents import FileLine


class Snapshots(Protocol):
    """Rows and files of one store, held as they are at a moment; by the name of an act."""

    def take(self, act: str, unpin: Callable[[], None]) -> None:
        """Hold the rows, then the files.

        The store is pinned; `unpin` is called once it need not be, and raises Conflict where
        it was not all the time.
        """
        ...

    def is_taken(self, act: str) -> bool:
        """Whether that snapshot is there, and whole."""
        ...

    def acts(self) -> list[str]:
        """The snapshots that there are, whole or not."""
        ...

    def archive(self, act: str) -> ArchiveStore:
        """The files of a snapshot, to be read and listed."""
        ...

    def rows(self, act: str) -> ArchiveStore:
        """The rows of a snapshot, as files to be read and listed."""
        ...

    def drop(self, act: str) -> None:
        """Let a snapshot go; none of that name is no error."""
        ...


class RowsRestorer(Protocol):
    """Makes the rows of an empty store out of those of a backup."""

    def require_empty(self) -> None:
        """Raise ConfigError unless there is nothing yet, or a restoring that did not end."""
        ...

    def restore(self, backup: ArchiveStore, lines: Sequence[FileLine]) -> None:
        """Bring the rows back, hidden where the profile can; again is no harm."""
        ...

    def open(self) -> RowStore:
        """The rows that were brought back, in the schema of this Pinakes."""
        ...

    def finish(self) -> None:
        """The rows are as they should be: let everybody see them."""
        ...

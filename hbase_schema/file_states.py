"""The states of an archive file in the catalogue, and which may follow which.

    landing ─▶ stored ─▶ leaving ─▶ left ─▶ removed

A landing may also be loading, and end refused; a file that was refused or removed may land again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pinakes.errors import Conflict


class FileState(str, Enum):
    """Who reads, checks, backs up or removes a file asks its state."""

    LANDING = "landing"
    LOADING = "loading"
    """Landing, with rows that are in files and not yet in the row store."""
    STORED = "stored"
    REFUSED = "refused"
    LEAVING = "leaving"
    LEFT = "left"
    """Leaving, with its rows gone and its bytes not yet."""
    REMOVED = "removed"
    PURGED = "purged"

    @property
    def is_landing(self) -> bool:
        """Whether a landing has begun, and not ended."""
        return self in (FileState.LANDING, FileState.LOADING)

    @property
    def is_leaving(self) -> bool:
        """Whether a removal has begun, and not ended."""
        return self in (FileState.LEAVING, FileState.LEFT)

    @property
    def is_gone(self) -> bool:
        """Whether a removal has ended."""
        return self in (FileState.REMOVED, FileState.PURGED)

    def __str__(self) -> str:
        return self.value


_NEXT: Mapping[FileState | None, tuple[FileState, ...]] = {
    None: (FileState.LANDING, FileState.LEAVING),
    FileState.LANDING: (
        FileState.LANDING,
        FileState.LOADING,
        FileState.STORED,
        FileState.REFUSED,
        FileState.LEAVING,
    ),
    FileState.LOADING: (
        FileState.LOADING,
        FileState.LANDING,
        FileState.STORED,
        FileState.REFUSED,
        FileState.LEAVING,
    ),
    FileState.STORED: (FileState.STORED, FileState.LEAVING),
    FileState.REFUSED: (FileState.LANDING, FileState.LEAVING),
    # Back to stored or leaving: a store that was backed up meanwhile is settled.
    FileState.LEAVING: (FileState.LEAVING, FileState.LEFT, FileState.STORED, FileState.LANDING),
    FileState.LEFT: (FileState.REMOVED, FileState.LEAVING, FileState.STORED, FileState.LANDING),
    FileState.REMOVED: (FileState.LANDING, FileState.LEAVING),
    FileState.PURGED: (FileState.LANDING,),
}


def require_next(state: FileState | None, following: FileState) -> None:
    """Raise Conflict unless a file in this state may come into the following one."""
    if following not in _NEXT[state]:
        raise Conflict(f"a file that is {state or 'not known'} does not become {following}")

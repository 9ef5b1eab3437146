"""The states of an archive file in the catalogue, and the allowed transitions.

    landing ─▶ stored ─▶ leaving ─▶ left ─▶ removed

During a landing a file may also be loading, and it may end as refused; a refused or removed
file may land again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pinakes.errors import Conflict


class FileState(str, Enum):
    """Checked before a file is read, verified, backed up or removed."""

    LANDING = "landing"
    LOADING = "loading"
    """Landing, with rows in files that are not yet in the row store."""
    STORED = "stored"
    REFUSED = "refused"
    LEAVING = "leaving"
    LEFT = "left"
    """Leaving, with its rows deleted, but not its bytes."""
    REMOVED = "removed"
    PURGED = "purged"

    @property
    def is_landing(self) -> bool:
        """Whether a landing has begun and not ended."""
        return self in (FileState.LANDING, FileState.LOADING)

    @property
    def is_leaving(self) -> bool:
        """Whether a removal has begun and not ended."""
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
    # Back to stored or leaving: when a store that was backed up during a removal is settled.
    FileState.LEAVING: (FileState.LEAVING, FileState.LEFT, FileState.STORED, FileState.LANDING),
    FileState.LEFT: (FileState.REMOVED, FileState.LEAVING, FileState.STORED, FileState.LANDING),
    FileState.REMOVED: (FileState.LANDING, FileState.LEAVING),
    FileState.PURGED: (FileState.LANDING,),
}


def require_next(state: FileState | None, following: FileState) -> None:
    """Raise Conflict unless this transition is allowed."""
    if following not in _NEXT[state]:
        raise Conflict(f"a file that is {state or 'not known'} does not become {following}")

"""A folder in HDFS with the intermediate state of a backup or restore.

    FOLDER/.backups/NAME/MARK/          a completed step, an empty folder
    FOLDER/.backups/NAME/rows.SECRET/   files of tables, in transit

FOLDER is the archive's; readers and `list` skip names with a leading dot.  HBase's tools may run
as another user, so the folder of rows is open to everybody, under a name that others can neither
list nor guess.
"""

from __future__ import annotations

from contextlib import suppress
from secrets import token_hex

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.archive_store.hdfs.errors import HdfsFileNotFound
from pinakes.errors import StoreUnavailable

BACKUPS = ".backups"
_ROWS = "rows."
_PASSED, _OPEN = 0o711, 0o777


def stage_names(calls: HdfsCalls, archive: HdfsConnection) -> list[str]:
    """The existing folders."""
    return _names(calls, f"{archive.folder}/{BACKUPS}")


class Stage:
    """One such folder, which need not exist yet."""

    def __init__(self, calls: HdfsCalls, archive: HdfsConnection, name: str) -> None:
        self._calls = calls
        self._server = archive.server
        self._above = f"{archive.folder}/{BACKUPS}"
        self._folder = f"{self._above}/{name}"

    def has(self, mark: str) -> bool:
        """Whether a step is completed."""
        return mark in self.marks()

    def marks(self) -> list[str]:
        """The completed steps."""
        return [name for name in _names(self._calls, self._folder) if not name.startswith(_ROWS)]

    def put(self, mark: str) -> None:
        """Mark a step as completed."""
        for folder in (self._above, self._folder):
            self._make(folder, _PASSED)
        self._make(f"{self._folder}/{mark}", _PASSED)

    def rows_url(self) -> str:
        """The folder of rows, made if missing."""
        known = [name for name in _names(self._calls, self._folder) if name.startswith(_ROWS)]
        name = known[0] if known else f"{_ROWS}{token_hex(16)}"
        path = f"{self._folder}/{name}"
        self._make(path, _OPEN)
        return f"{self._server}{path}"

    def has_rows(self) -> bool:
        """Whether there is a folder of rows."""
        return any(name.startswith(_ROWS) for name in _names(self._calls, self._folder))

    def remove(self) -> None:
        """Delete it, and its parent if that is empty."""
        self._calls.ask(self._folder, lambda client: client.delete(self._folder, True))
        with suppress(StoreUnavailable):  # it is not empty
            self._calls.once(self._above, lambda client: client.delete(self._above, False))

    def _make(self, path: str, permission: int) -> None:
        self._calls.ask(path, lambda client: client.mkdirs(path, create_parent=True))
        self._calls.ask(path, lambda client: client.set_permission(path, permission))


def _names(calls: HdfsCalls, folder: str) -> list[str]:
    try:
        found = calls.ask(folder, lambda client: list(client.list_status(folder)))
    except HdfsFileNotFound:
        return []
    return sorted(status.path.rpartition("/")[2] for status in found)

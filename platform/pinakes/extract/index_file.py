"""The index of a folder: a line of JSON for each file, to which every run adds what is new.

Lines are appended as files are published.  A process that dies leaves at worst half a line, which
the next one removes.  One process at a time: others find it locked.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType

from pinakes.archive_store.local.files import lock_alone
from pinakes.errors import InputRefused

_START = b'{"file": '


class IndexFile:
    """The index, opened and locked; a context manager.  Memory: a hash of each line in it."""

    def __init__(self, path: Path) -> None:
        """Raises InputRefused where `path` is something else, Conflict where it is locked."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self._file = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ESPIPE):
                raise
            raise _not_an_index(path) from error
        try:
            lock_alone(self._file.fileno(), path, doing="writing here")
            self._known = self._read(path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> IndexFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._file:
            os.fsync(self._file.fileno())

    def add(self, line: str) -> None:
        """Append a line, unless it is there already."""
        data = line.encode() + b"\n"
        if hash(data) not in self._known:
            self._file.write(data)

    def _read(self, path: Path) -> set[int]:
        known, end = set(), 0
        with open(self._file.fileno(), "rb", closefd=False) as lines:
            for line in lines:
                if line[: len(_START)] != _START[: len(line)]:
                    raise _not_an_index(path)
                if line.endswith(b"\n"):
                    known.add(hash(line))
                    end += len(line)
        self._file.truncate(end)
        return known


def _not_an_index(path: Path) -> InputRefused:
    return InputRefused("is not an index of `pinakes unpack`: name another folder", file=str(path))

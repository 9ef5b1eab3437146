"""A file in HDFS, read at any offset.

A read that continues where the last one ended reads ahead, up to 4 MiB; other reads fetch what
was asked for.  A file that is no longer the one that was opened (by its length and closing time)
is refused, and blocks have unique names: so bytes of two files are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pinakes.errors import InputRefused

from .hdfs_errors import NotThere
from .seeking import SeekableRaw

if TYPE_CHECKING:
    from hdfs_native import Client, FileReader, FileStatus

    from .hdfs_calls import HdfsCalls

_FIRST_AHEAD_BYTES = 1 << 18
_GROWTH = 4
_MOST_AHEAD_BYTES = 4 << 20
_MOST_BYTES = 4 << 20
"""Of one range: each costs some ms, and above 4 MiB the system maps new memory each time."""

_PIECE_BYTES = 1 << 20


class Identity(NamedTuple):
    """What distinguishes a file from another of its name; a rename does not change it."""

    size: int
    closed_ms: int


def identity_of(status: FileStatus) -> Identity:
    """The identity of a file with this status."""
    return Identity(status.length, status.modification_time)


class HdfsFile(SeekableRaw):
    """A published file, seekable; not for several threads.

    Raises NotThere if it does not exist.
    """

    def __init__(self, calls: HdfsCalls, path: str, name: str) -> None:
        super().__init__()
        self.name = name
        self._calls = calls
        self._path = path
        self._ahead = b""
        self._ahead_at = 0
        self._next_ahead = _FIRST_AHEAD_BYTES
        self._file: FileReader | None = None
        status = calls.ask(name, lambda client: client.get_file_info(path))
        if status.isdir:
            raise NotThere("this is a folder, not a file", file=name)
        self._identity = identity_of(status)
        self._size = self._identity.size

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(self._size - self._at, 0)
        wanted = left if size is None or size < 0 else min(size, left)
        if not wanted:
            return b""
        start = self._at - self._ahead_at
        if not 0 <= start <= len(self._ahead) - wanted:
            self._fetch(wanted)
            start = 0
        self._at += wanted
        return self._ahead[start : start + wanted]

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer) as whole, whole.cast("B") as view:
            data = self.read(view.nbytes)
            view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read()

    def close(self) -> None:
        self._file, self._ahead = None, b""
        super().close()

    def _fetch(self, wanted: int) -> None:
        """Fetch `wanted` bytes at the position, and more when reading sequentially."""
        kept = b""
        length = wanted
        if self._ahead_at <= self._at <= self._ahead_at + len(self._ahead):
            kept = self._ahead[self._at - self._ahead_at :]
            length = max(wanted - len(kept), self._next_ahead)
            self._next_ahead = min(_GROWTH * self._next_ahead, _MOST_AHEAD_BYTES)
        else:
            self._next_ahead = _FIRST_AHEAD_BYTES
        start = self._at + len(kept)
        length = min(length, self._size - start)
        end = start + length
        # In pieces: each may take `patience_s`.
        pieces = [
            self._calls.ask(self.name, partial(self._read, at, min(_MOST_BYTES, end - at)))
            for at in range(start, end, _MOST_BYTES)
        ]
        self._ahead, self._ahead_at = b"".join([kept, *pieces] if kept else pieces), self._at

    def _read(self, start: int, length: int, client: Client) -> bytes:
        file = self._file or self._opened(client)
        self._file = None  # after a failure, look up its blocks again
        fetched = bytes(file.read_range(start, length))
        if len(fetched) != length:
            raise InputRefused("the file became shorter while it was read", file=self.name)
        self._file = file
        return fetched

    def _opened(self, client: Client) -> FileReader:
        file = client.read(self._path)
        # Compared after its blocks were looked up: equal before and after means equal between.
        if identity_of(client.get_file_info(self._path)) != self._identity:
            raise InputRefused("the file was replaced while it was read", file=self.name)
        return file


def pieces_of(file: HdfsFile) -> Iterator[bytes]:
    """A file in pieces, in order."""
    while piece := file.read(_PIECE_BYTES):
        yield piece

"""A file in HDFS, read at any offset.

A file that is no longer the one that was opened (by its length and closing time)
is refused, and blocks have unique names: so bytes of two files are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pinakes.archive_store.seeking import ReadAhead
from pinakes.errors import InputRefused

from .errors import HdfsFileNotFound

if TYPE_CHECKING:
    from hdfs_native import Client, FileReader, FileStatus

    from .calls import HdfsCalls

_PIECE_BYTES = 1 << 20


class Identity(NamedTuple):
    """What distinguishes a file from another of its name; a rename does not change it."""

    size: int
    closed_ms: int


def identity_of(status: FileStatus) -> Identity:
    """The identity of a file with this status."""
    return Identity(status.length, status.modification_time)


class HdfsFile(ReadAhead):
    """A published file, seekable; not for several threads.

    Raises NotThere if it does not exist.
    """

    def __init__(self, calls: HdfsCalls, path: str, name: str) -> None:
        super().__init__()
        self.name = name
        self._calls = calls
        self._path = path
        self._file: FileReader | None = None
        status = calls.ask(name, lambda client: client.get_file_info(path))
        if status.isdir:
            raise HdfsFileNotFound("this is a folder, not a file", file=name)
        self._identity = identity_of(status)
        self._size = self._identity.size

    def close(self) -> None:
        self._file = None
        super().close()

    def _read_range(self, start: int, length: int) -> bytes:
        return self._calls.ask(self.name, partial(self._read, start, length))

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

"""Archive files in S3, and in what speaks its protocol, read by byte ranges.

A file that changes between two reads (ETag, Last-Modified or size) is refused.  Arrow sends no
conditions along with a range, so the file is asked for after each: two requests a range.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pinakes.archive_store.port import PublishedFile
from pinakes.archive_store.seeking import MOST_AHEAD_BYTES, ReadAhead
from pinakes.errors import InputRefused, StoreUnavailable

from .server import parse_s3_url, server_of

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

_VALIDATORS = ("ETag", "Last-Modified", "Content-Length")


class S3File(ReadAhead):
    """One object as a seekable file; not for several threads, nor across forks.

    Raises:
        ConfigError: the URL is none of S3.
        InputRefused: it may not be read; `port.NotThere` if it does not exist.
        StoreUnavailable: the server does not answer.
    """

    def __init__(self, url: str, *, most_ahead_bytes: int = MOST_AHEAD_BYTES) -> None:
        super().__init__(most_ahead_bytes)
        self.name = url
        place = parse_s3_url(url)
        self._path = place.path
        self._server = server_of(place)
        self._file: NativeFile = self._server.ask(url, self._open)
        self._validators = _validators(self._file)
        self._size: int = self._file.size()

    def _open(self, filesystem: FileSystem) -> NativeFile:
        return filesystem.open_input_file(self._path)

    def _read_range(self, start: int, length: int) -> bytes:
        return self._server.ask(self.name, partial(self._read_unchanged, start, length))

    def _read_unchanged(self, start: int, length: int, filesystem: FileSystem) -> bytes:
        try:
            data: bytes = self._file.read_at(length, start)
        finally:  # a file that became shorter is an error, too
            if _validators(self._open(filesystem)) != self._validators:
                raise InputRefused(
                    "the file changed on the server while it was read", file=self.name
                )
        if len(data) != length:
            raise StoreUnavailable("the server sent fewer bytes than asked for", file=self.name)
        return data


def _validators(file: NativeFile) -> tuple[bytes | None, ...]:
    found = file.metadata()
    return tuple(found.get(name) for name in _VALIDATORS)


def list_s3(folder: str) -> Iterator[PublishedFile]:
    """Yield the objects below a prefix that ends with `/` or might, sorted by key.

    A request a thousand objects; memory: all of them.

    Raises:
        NotThere: there is none.
        Otherwise as `S3File`.
    """
    from pyarrow.fs import FileSelector, FileType

    place = parse_s3_url(folder)
    prefix = place.path.rstrip("/")
    asked = FileSelector(prefix, recursive=True)
    found = server_of(place).ask(folder, lambda filesystem: filesystem.get_file_info(asked))
    yield from sorted(
        PublishedFile(entry.path[len(prefix) + 1 :], entry.size)
        for entry in found
        if entry.type == FileType.File
    )

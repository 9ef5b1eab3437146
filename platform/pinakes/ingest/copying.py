"""A file that is copied and hashed while the parser reads it.

Landing reads an archive file once: each byte that the parser reads for the first time goes to
the copy, into the SHA-256 that identifies the file, and into the CRC-32 that the copy is
compared with.  Seeking back costs nothing; seeking ahead copies the bytes between first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, Protocol

from isal import isal_zlib

from pinakes.archive_store.located import local_path
from pinakes.errors import InputRefused
from pinakes.warc.file_names import is_remote
from pinakes.warc.packages.paths import split_member
from pinakes.warc.source import SeekableFile, watched_fileno

_PIECE_BYTES = 1 << 20


class Writer(Protocol):
    """Where a copy is written to."""

    def write(self, data: memoryview, /) -> int:
        """Accept some of the data, to be written now or later; return the number of bytes."""
        ...

    def flush(self) -> None:
        """Return when all accepted data is written."""
        ...


Writers = Callable[[BinaryIO], AbstractContextManager[Writer]]


@contextmanager
def direct_writer(file: BinaryIO) -> Iterator[Writer]:
    """Write to the file directly."""
    yield file


class CopyingFile:
    """A seekable file over another one, which copies what is read.

    `copied_bytes` and `crc32` describe the copy so far.
    """

    def __init__(
        self, file: SeekableFile, copy: Writer, beat: Callable[[int], None] = lambda copied: None
    ) -> None:
        """`beat` is called often while the copy grows, with the bytes that are copied so far."""
        self._beat = beat
        self._file = file
        self._copy = copy
        self._at = 0
        self._sha256 = hashlib.sha256()
        self.crc32 = 0
        self.copied_bytes = 0

    def read(self, size: int, /) -> bytes:
        self._catch_up(self._at)
        self._file.seek(self._at)
        data = self._file.read(size)
        fresh = self._at + len(data) - self.copied_bytes
        if fresh > 0:
            self._take(memoryview(data)[len(data) - fresh :])
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if whence == 0:
            self._at = offset
        else:
            self._at = self._file.seek(offset, whence)
        return self._at

    def watched_fileno(self) -> int:
        """That of the file that is read."""
        return watched_fileno(self._file)

    def finish(self) -> str:
        """Copy what was not read; return the SHA-256 of the whole file, in hex."""
        self._catch_up(None)
        self._copy.flush()
        return self._sha256.hexdigest()

    def _catch_up(self, end: int | None) -> None:
        """Copy up to `end`; None: to the end of the file."""
        if end is not None and end <= self.copied_bytes:
            return
        self._file.seek(self.copied_bytes)
        while end is None or self.copied_bytes < end:
            most = _PIECE_BYTES if end is None else min(_PIECE_BYTES, end - self.copied_bytes)
            data = self._file.read(most)
            if not data:
                return
            self._take(memoryview(data))

    def _take(self, fresh: memoryview) -> None:
        self._beat(self.copied_bytes)
        self._sha256.update(fresh)
        self.crc32 = isal_zlib.crc32(fresh, self.crc32)
        self.copied_bytes += len(fresh)
        while fresh:  # an unbuffered file may write only a part
            fresh = fresh[self._copy.write(fresh) :]


def check_same_file(place: str, file: CopyingFile) -> None:
    """Raise InputRefused if the path, or its package, is another file than when it was opened.

    Of a URL this is checked with every read (`archive_store.http`).
    """
    if is_remote(place):
        return
    path = str(local_path(place))
    package, _ = split_member(path) or (path, "")
    try:
        same = os.path.samestat(os.stat(package), os.fstat(file.watched_fileno()))
    except OSError:
        same = False
    if not same:
        raise InputRefused(
            "the file was replaced while it was read; try again when it no longer changes",
            file=place,
        )

"""A file that is copied and hashed while somebody else reads it.

Landing reads an archive file once: the parser pulls, and every byte it has passed for
the first time goes to the copy, into the SHA-256 that names the file, and into the CRC-32
that the copy is compared with.  A parser that looks back costs nothing; one that leaps
ahead makes the bytes between be copied first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Protocol

from isal import isal_zlib

from pinakes.errors import InputRefused
from pinakes.warc.source import SeekableFile

_PIECE_BYTES = 1 << 20


class Writer(Protocol):
    """What a copy is written to."""

    def write(self, data: memoryview, /) -> int:
        """Take some of it, now or later; how many bytes were taken."""
        ...

    def flush(self) -> None:
        """Return when all that was taken is written."""
        ...


Writers = Callable[[BinaryIO], AbstractContextManager[Writer]]


@contextmanager
def direct_writer(file: BinaryIO) -> Iterator[Writer]:
    """Writes go to the file at once."""
    yield file


class CopyingFile:
    """A seekable file over another one, with a copy that follows what is read.

    `copied_bytes` and `crc32` are of what the copy has so far.
    """

    def __init__(
        self, file: SeekableFile, copy: Writer, beat: Callable[[], None] = lambda: None
    ) -> None:
        """`beat` is called now and then, as long as the copy grows."""
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

    def fileno(self) -> int:
        """The descriptor of the file that is read: its size and time are watched."""
        return int(self._file.fileno())  # type: ignore[attr-defined]

    def finish(self) -> str:
        """Copy what nobody read; return the SHA-256 of the whole file, in hex."""
        self._catch_up(None)
        self._copy.flush()
        return self._sha256.hexdigest()

    def _catch_up(self, end: int | None) -> None:
        """Copy on to `end`; to the end of the file where it is None."""
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
        self._beat()
        self._sha256.update(fresh)
        self.crc32 = isal_zlib.crc32(fresh, self.crc32)
        self.copied_bytes += len(fresh)
        while fresh:  # an unbuffered file may take less than it is given
            fresh = fresh[self._copy.write(fresh) :]


def check_same_file(path: Path, file: BinaryIO | FileIO) -> None:
    """Raise InputRefused if the path has come to name another file since it was opened."""
    try:
        same = os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except OSError:
        same = False
    if not same:
        raise InputRefused(
            "the file was replaced while it was read; try again when it stands still",
            file=str(path),
        )

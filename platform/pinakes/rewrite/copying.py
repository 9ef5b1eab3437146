"""Ways to copy stretches of an old file into a new one.

Between two local files, the kernel does it if it can (`copy_file_range(2)`).
"""

from __future__ import annotations

import errno
import os
from typing import BinaryIO, Protocol

from pinakes.errors import PinakesError
from pinakes.warc.source import Source

_COPY_BYTES = 1 << 22
_SHORT_BYTES = 1 << 15
_GATHER_BYTES = 1 << 18
_FALL_BACK = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}


class Copy(Protocol):
    """A new file that is made from an old one; `written` bytes so far."""

    written: int

    def write(self, piece: bytes | memoryview) -> None: ...

    def copy(self, start: int, end: int) -> None: ...

    def flush(self) -> None: ...


class WindowCopy:
    """A copy from a `Source`."""

    def __init__(self, source: Source, target: BinaryIO) -> None:
        self._source, self._target = source, target
        self.written = 0

    def write(self, piece: bytes | memoryview) -> None:
        self.written += self._target.write(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    def copy(self, start: int, end: int) -> None:
        """`[start, end)` of the old file."""
        for piece in self._source.pieces(start, end, _COPY_BYTES):
            self.write(piece)


class KernelCopy:
    """A copy by the kernel.  Short pieces are collected: a system call costs as much as 10 kB."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._gathered: list[bytes | memoryview] = []
        self._gathered_bytes = 0
        self.written = 0

    def write(self, piece: bytes | memoryview) -> None:
        self._gathered.append(piece)
        self._gathered_bytes += len(piece)
        if self._gathered_bytes > _GATHER_BYTES:
            self.flush()

    def flush(self) -> None:
        write_all(self._target, b"".join(self._gathered))
        self.written += self._gathered_bytes
        self._gathered.clear()
        self._gathered_bytes = 0

    def copy(self, start: int, end: int) -> None:
        """`[start, end)` of the old file."""
        if end - start > _SHORT_BYTES:
            self.flush()
        while start < end:
            count = end - start
            if count > _SHORT_BYTES:
                count = _copy_some(self._source, self._target, start, min(count, _COPY_BYTES))
                self.written += count
            else:
                piece = os.pread(self._source, count, start)
                self.write(piece)
                count = len(piece)
            if not count:
                raise PinakesError(f"the file became shorter while it was copied, at {start}")
            start += count


def _copy_some(source: int, target: int, offset: int, count: int) -> int:
    if hasattr(os, "copy_file_range"):
        try:
            return os.copy_file_range(source, target, count, offset_src=offset)
        except OSError as error:
            if error.errno not in _FALL_BACK:
                raise
    return write_all(target, os.pread(source, count, offset))


def write_all(target: int, data: bytes | memoryview) -> int:
    """Write every byte, where `os.write` may write some; the number of bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
    return len(data)

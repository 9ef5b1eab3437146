"""A window over a seekable file: any offset, any length, bounded memory.

Reads through a buffer instead of a memory map: truncating a mapped file kills the
process with SIGBUS, and HDFS and HTTP cannot be mapped anyway.  The buffer costs one copy
of the compressed bytes, about as much as the page faults of a map.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar, cast

from pinakes.errors import InputRefused

from .header import shown

WINDOW_BYTES = 1 << 20
# Bytes per read: small enough to be in the second-level cache when they are inflated.
READ_BYTES = 1 << 16
# Up to this size a block is kept in memory; a larger one is inflated again when it is read.
IN_MEMORY_BYTES = 1 << 22

T = TypeVar("T")


class SeekableFile(Protocol):
    """The file that a source reads: local, HDFS or HTTP."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...


class Source:
    """Random access to one archive file; not safe for use by several threads."""

    __slots__ = (
        "_base", "_file", "_known", "_limit", "_reached", "_stat", "_view", "_window_bytes",
        "name", "size",
    )  # fmt: skip

    def __init__(
        self,
        file: SeekableFile,
        *,
        name: str,
        size: int | None = None,
        window_bytes: int = READ_BYTES,
    ) -> None:
        self._file = file
        self.name = name
        self.size = file.seek(0, 2) if size is None else size
        self._window_bytes = window_bytes
        self._base = self._limit = 0
        self._view = memoryview(b"")
        self._stat = _identity(file)
        self._reached: Callable[[int], None] | None = None
        self._known: dict[Callable[[Source], object], object] = {}

    def once(self, work_out: Callable[[Source], T]) -> T:
        """`work_out(self)`, called at its first use only: what all readings of a file need."""
        if work_out not in self._known:
            self._known[work_out] = work_out(self)
        return cast("T", self._known[work_out])

    def watch(self, reached: Callable[[int], None] | None) -> None:
        """Have `reached(position)` called at each read of the file: for showing progress."""
        self._reached = reached

    def __repr__(self) -> str:
        return shown(f"<Source {self.name}: {self.size} bytes>")

    def view(self, offset: int, length: int) -> memoryview:
        """The bytes from `offset`; shorter than `length` only at the end of the file.

        The view stays valid after later calls.
        """
        end = offset + length
        if offset < self._base or end > self._limit:
            if offset >= self.size:
                return memoryview(b"")
            end = min(end, self.size)
            if offset < self._base or end > self._limit:
                self._fill(offset, max(length, self._window_bytes))
        start = offset - self._base
        return self._view[start : start + length]

    @property
    def position(self) -> int:
        """How far the file has been read, from start to end: for showing progress."""
        return self._limit

    def _call(self, method: Callable[[int], T], argument: int) -> T:
        try:
            return method(argument)
        except (OSError, ValueError) as error:  # ValueError: it is closed
            reason = getattr(error, "strerror", None) or str(error)
            raise InputRefused(f"cannot be read further: {reason}", file=self.name) from error

    def _fill(self, offset: int, length: int) -> None:
        wanted = min(length, self.size - offset)
        parts = []
        self._call(self._file.seek, offset)
        while wanted > 0:
            part = self._call(self._file.read, wanted)
            if not part:
                raise InputRefused(
                    "the file became shorter while it was read; try again when it is complete",
                    file=self.name,
                    offset=offset,
                )
            parts.append(part)
            wanted -= len(part)
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self._base, self._limit, self._view = (
            offset,
            offset + len(data),
            memoryview(data),
        )
        if self._reached is not None:
            self._reached(self._limit)

    def pieces(
        self, offset: int, end: int, piece_bytes: int = WINDOW_BYTES
    ) -> Iterator[memoryview]:
        """The bytes from `offset` to `end` (exclusive), in order."""
        while offset < end:
            view = self.view(offset, min(piece_bytes, end - offset))
            if not view:
                return
            yield view
            offset += len(view)

    def sha256(self) -> str:
        """The SHA-256 of the whole file, in hex; reads all of it."""
        state = hashlib.sha256()
        for piece in self.pieces(0, self.size):
            state.update(piece)
        return state.hexdigest()

    def again(self, *, window_bytes: int | None = None) -> Source:
        """Another window over the same file, for a reader at another place."""
        window_bytes = self._window_bytes if window_bytes is None else window_bytes
        return Source(self._file, name=self.name, size=self.size, window_bytes=window_bytes)

    def check_unchanged(self) -> None:
        """Raise InputRefused if the file grew, shrank or was replaced since it was opened."""
        if self._stat is not None and _identity(self._file) != self._stat:
            raise InputRefused(
                "the file changed while it was read; try again when it is complete",
                file=self.name,
            )


def watched_fileno(file: SeekableFile) -> int:
    """The descriptor that shows whether a file changes; not for reading.

    Of a member of a package it is that of the package.  `Raises` AttributeError or OSError for
    what has none.
    """
    method = getattr(file, "watched_fileno", None) or file.fileno  # type: ignore[attr-defined]
    return int(method())


def _identity(file: SeekableFile) -> tuple[int, ...] | None:
    """Size, time and inode of a local file, or its package; None for a stream that has none."""
    try:
        status = os.fstat(watched_fileno(file))
    except (AttributeError, OSError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)

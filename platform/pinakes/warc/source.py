"""A window over a seekable file: any offset, any length, bounded memory.

Reads through a buffer instead of a memory map: truncating a mapped file kills the
process with SIGBUS, and HDFS and HTTP cannot be mapped anyway.  The buffer costs one copy
of the compressed bytes, about as much as the page faults of a map.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, TypeVar

from pinakes.errors import ConfigError, InputRefused

from .header import shown

WINDOW_BYTES = 1 << 20
# Bytes per read: small enough to be in the second-level cache when they are inflated.
READ_BYTES = 1 << 16

T = TypeVar("T")


class SeekableFile(Protocol):
    """The file that a source reads: local, HDFS or HTTP."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...


class Stream(Protocol):
    """What can be read once, from where it stands: a pipe, an HTTP response."""

    def read(self, size: int, /) -> bytes: ...


Place = str | os.PathLike[str] | Stream
"""A path, or a file that is open for reading bytes."""


class Source:
    """Random access to one archive file; not safe for use by several threads."""

    __slots__ = ("_base", "_file", "_limit", "_stat", "_view", "_window_bytes", "name", "size")

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

    def again(self) -> Source:
        """Another window over the same file, for a reader at another place."""
        return Source(self._file, name=self.name, size=self.size, window_bytes=self._window_bytes)

    def check_unchanged(self) -> None:
        """Raise InputRefused if the file grew, shrank or was replaced since it was opened."""
        if self._stat is not None and _identity(self._file) != self._stat:
            raise InputRefused(
                "the file changed while it was read; try again when it is complete",
                file=self.name,
            )


def _identity(file: SeekableFile) -> tuple[int, ...] | None:
    """Size, time and inode of a local file; None for a stream that has none."""
    try:
        status = os.fstat(file.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)


@contextmanager
def open_source(path: Place, *, window_bytes: int = READ_BYTES) -> Iterator[Source]:
    """Open a local archive file, or take one that is open: see `open_stream`.

    Raises:
        InputRefused: it is not a readable file.
    """
    if not isinstance(path, (str, os.PathLike)):
        with open_stream(path, window_bytes=window_bytes) as source:
            yield source
        return
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputRefused("not a regular file; for a folder, give the files in it", file=name)
        file = Path(path).open("rb", buffering=0)  # noqa: SIM115 (closed below)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputRefused(f"cannot be read: {reason}", file=name) from error
    with file:
        yield Source(file, name=name, window_bytes=window_bytes)


@contextmanager
def open_stream(file: Stream, *, window_bytes: int = READ_BYTES) -> Iterator[Source]:
    """An archive file that is open for reading bytes, from its first byte; it stays open.

    Of one that can seek, only `read`, `seek` and `tell` are called.  All others are first copied,
    from where they stand, into a temporary file, since damage and large blocks are read twice.

    Raises:
        ConfigError: it is no file, or was opened as text.
    """
    if not callable(getattr(file, "read", None)):
        raise ConfigError(
            f"an archive file is a path or an open file, not {type(file).__name__} "
            "(of bytes, make io.BytesIO)"
        )
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else f"<{type(file).__name__}>"
    if _is_text(file):
        raise ConfigError("opened as text: open it with mode 'rb'", file=name)
    size = _size_of(file)
    if size is not None:
        yield Source(file, name=name, size=size, window_bytes=window_bytes)  # type: ignore[arg-type]
        return
    from tempfile import TemporaryFile  # only streams need it, and what it imports

    with TemporaryFile(prefix="pinakes-") as kept:
        _copy(file, kept, name)
        yield Source(kept, name=name, window_bytes=window_bytes)


def _is_text(file: object) -> bool:
    return isinstance(file, io.TextIOBase)


def _size_of(file: Stream) -> int | None:
    """None for a file that cannot seek.  `seek` of some files returns nothing: `tell` does."""
    seek, tell, seekable = (getattr(file, part, None) for part in ("seek", "tell", "seekable"))
    if seek is None or tell is None or (seekable is not None and not seekable()):
        return None
    try:
        seek(0, os.SEEK_END)
        return int(tell())
    except OSError:
        return None


def _copy(file: Stream, kept: IO[bytes], name: str) -> None:
    try:
        while piece := file.read(WINDOW_BYTES):
            kept.write(piece)
        kept.flush()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputRefused(f"cannot be copied to a temporary file: {reason}", file=name) from error

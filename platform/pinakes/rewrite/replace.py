"""Copy an archive file with some stretches replaced; the rest verbatim.

Between two local files, the kernel copies the bytes between replacements if it can
(`copy_file_range(2)`): compressed members that are kept are not even read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from pinakes.errors import InputRefused, PinakesError, StoreUnavailable
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.members import compression_of
from pinakes.warc.source import Source
from pinakes.warc.zstd_format import is_start

_NOT_REWRITTEN = (
    "records in Zstandard are not rewritten: make a file in gzip of them "
    "(`pinakes filter FILE -o NEW.warc.gz`), and use that"
)
_MAGIC_BYTES = 4
_COPY_BYTES = 1 << 22
_SHORT_BYTES = 1 << 15
_GATHER_BYTES = 1 << 18
_FALL_BACK = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}


class Replacement(NamedTuple):
    """`[offset, offset + length)` of the old file becomes `pieces` in the new one."""

    offset: int
    length: int
    pieces: Iterable[bytes | memoryview]


def require_rewritable(source: Source, offset: int) -> None:
    """Raise InputRefused where a record lies in a Zstandard frame: frames are not written yet.

    Nor may another member stand among them: no other reader would take it.
    """
    if compression_of(source, offset) == "zstd":
        raise InputRefused(_NOT_REWRITTEN, file=source.name, offset=offset)


def watched(
    replacements: Iterable[Replacement], source: Source, done: FileProgress
) -> Iterator[Replacement]:
    """The same; tells how far they are, and when they end, how far `source` is read behind them."""
    for replacement in replacements:
        yield replacement
        done.reached(replacement.offset)
    done.reached(source.size)
    source.watch(done.reached)


def copy_with_replacements(source: int, target: int, replacements: Iterable[Replacement]) -> int:
    """Write the bytes of `source` to `target` with replacements; return the bytes written.

    Both are open file descriptors.  Replacements are in order of offset and do not
    overlap.

    Raises:
        PinakesError: if they overlap.
        InputRefused: there are some, and `source` is a Zstandard file.
        StoreUnavailable: if the disk is full.
    """
    replacements = _unless_zstd(os.pread(source, _MAGIC_BYTES, 0), replacements)
    return _copy(_KernelCopy(source, target), os.fstat(source).st_size, replacements)


def copy_file_with_replacements(
    source: BinaryIO, target: BinaryIO, size: int, replacements: Iterable[Replacement]
) -> int:
    """The same between files that may be remote; `size` is that of the source in bytes.

    Nothing else may read from `source` meanwhile.  Also raises what the files raise.
    """
    try:
        descriptors = source.fileno(), target.fileno()
    except OSError:  # not a local file: io.UnsupportedOperation is an OSError
        source.seek(0)
        replacements = _unless_zstd(source.read(_MAGIC_BYTES), replacements)
        return _copy(_StreamCopy(source, target), size, replacements)
    replacements = _unless_zstd(os.pread(descriptors[0], _MAGIC_BYTES, 0), replacements)
    return _copy(_KernelCopy(*descriptors), size, replacements)


def copy_source_with_replacements(
    source: Source, target: BinaryIO, replacements: Iterable[Replacement]
) -> int:
    """The same from a source, which others may read meanwhile: it gets another window."""
    window = source.again()
    replacements = _unless_zstd(bytes(window.view(0, _MAGIC_BYTES)), replacements)
    return _copy(_WindowCopy(window, target), source.size, replacements)


def _unless_zstd(start: bytes, replacements: Iterable[Replacement]) -> Iterator[Replacement]:
    """The same; the last to see that no file of frames gets anything else into it."""
    for replacement in replacements:
        if is_start(start):
            raise InputRefused(_NOT_REWRITTEN, offset=replacement.offset)
        yield replacement


class _Copy(Protocol):
    """A new file that is made from an old one; `written` bytes so far."""

    written: int

    def write(self, piece: bytes | memoryview) -> None: ...

    def copy(self, start: int, end: int) -> None: ...

    def flush(self) -> None: ...


def _copy(target_file: _Copy, size: int, replacements: Iterable[Replacement]) -> int:
    at = 0
    try:
        for offset, length, pieces in replacements:
            if offset < at or offset + length > size:
                raise PinakesError(f"a replacement at {offset} overlaps, or reaches past the end")
            target_file.copy(at, offset)
            for piece in pieces:
                target_file.write(piece)
            at = offset + length
        target_file.copy(at, size)
        target_file.flush()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreUnavailable(
                "the disk is full; nothing was published: make room and run again"
            ) from error
        raise
    return target_file.written


class _WindowCopy:
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
        for piece in self._source.pieces(start, end):
            self.write(piece)


class _StreamCopy:
    """A copy by reading and writing."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source, self._target = source, target
        self.written = 0

    def write(self, piece: bytes | memoryview) -> None:
        self.written += self._target.write(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    def copy(self, start: int, end: int) -> None:
        """`[start, end)` of the old file."""
        self._source.seek(start)
        while start < end:
            piece = self._source.read(min(end - start, _COPY_BYTES))
            if not piece:
                raise PinakesError(f"the file became shorter while it was copied, at {start}")
            self.write(piece)
            start += len(piece)


class _KernelCopy:
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

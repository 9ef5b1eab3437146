"""Copy an archive file with some stretches replaced; the rest verbatim.

Between two local files, the kernel copies the bytes between replacements if it can
(`copy_file_range(2)`): compressed members that are kept are not even read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import BinaryIO, NamedTuple

from pinakes.errors import InputRefused, PinakesError, StoreUnavailable
from pinakes.warc.compression.members import compression_at, why_not_written
from pinakes.warc.compression.zstd_dictionary import dictionary_of
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.record import Record
from pinakes.warc.slices import iter_slice
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .frame_guard import frames_only

_COPY_BYTES = 1 << 22
_SHORT_BYTES = 1 << 15
_GATHER_BYTES = 1 << 18
_FALL_BACK = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}


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


class Replacement(NamedTuple):
    """`[offset, offset + length)` of the old file becomes `pieces` in the new one."""

    offset: int
    length: int
    pieces: Iterable[bytes | memoryview]


def require_rewritable(source: Source, offset: int) -> None:
    """Raise InputRefused where nothing can be written for a record: see `why_not_written`."""
    why = why_not_written(source, compression_at(source, offset))
    if why:
        raise InputRefused(f"not rewritten: {why}", file=source.name, offset=offset)


def replacement_of(
    source: Source,
    record: Record,
    pieces: Iterable[bytes | memoryview],
    *,
    closing: bytes = RECORD_END,
    behind: Iterable[bytes] = (),
) -> Replacement:
    """A record in place of one that is alone in its members, compressed as that is.

    `pieces` are the new record without the line ends that close it: those of an uncompressed
    one lie outside its length, and stay.  `behind` follows them in its member.
    """
    compression = compression_at(source, record.offset)
    if compression is None:
        return Replacement(record.offset, record.length, pieces)
    whole = chain(pieces, (closing,), behind)
    return Replacement(record.offset, record.length, compression.compress_pieces(source, whole))


def bytes_behind(source: Source, record: Record) -> Iterator[bytes]:
    """What the members of a record hold after the two line ends that close it, in pieces.

    These are no part of the record (ISO 28500:2017 §4), but of the file: further line ends, by
    other tools.

    Raises:
        MalformedRecord: its members cannot be read.
    """
    if compression_at(source, record.offset) is None:
        return
    size = len(record.header.raw) + record.block_size + len(RECORD_END)
    for piece in iter_slice(source, record.offset, record.length):
        if len(piece) > size:
            yield bytes(piece[size:])
        size = max(0, size - len(piece))


def watched(
    replacements: Iterable[Replacement], source: Source, done: FileProgress
) -> Iterator[Replacement]:
    """The same; reports how far they are and, at their end, how far `source` is read after them."""
    for replacement in replacements:
        yield replacement
        done.reached(replacement.offset)
    done.reached(source.size)
    source.watch(done.reached)


def copy_file_with_replacements(
    source: BinaryIO, target: BinaryIO, size: int, replacements: Iterable[Replacement]
) -> int:
    """Write the bytes of `source` to `target` with replacements; return the bytes written.

    `size` is that of the source.  Either may be remote; between local files the kernel copies, to
    where the descriptor of `target` stands, and others may read from `source` at the same time.
    Replacements are in order of offset and do not overlap.

    Raises:
        PinakesError: if they overlap.
        InputRefused: `source` is a Zstandard file, and they are not frames for it.
        StoreUnavailable: if the disk is full.
    And what the files raise.
    """
    try:
        descriptors = source.fileno(), target.fileno()
    except OSError:  # not a local file: io.UnsupportedOperation is an OSError
        opened = Source(source, name="", size=size)
        return copy_source_with_replacements(opened, target, replacements)
    guarded = _only_frames(Source(_Descriptor(descriptors[0]), name=""), replacements)
    return _copy(KernelCopy(*descriptors), size, guarded)


def copy_source_with_replacements(
    source: Source, target: BinaryIO, replacements: Iterable[Replacement]
) -> int:
    """The same from a source, which others may read at the same time: it gets another window."""
    window = source.again()
    replacements = _only_frames(window, replacements)
    return _copy(WindowCopy(window, target), source.size, replacements)


def iter_with_replacements(
    source: Source, replacements: Iterable[Replacement]
) -> Iterator[bytes | memoryview]:
    """The bytes of the new file, in pieces.  `Raises` as `copy_file_with_replacements`."""
    window, at = source.again(), 0
    for offset, length, pieces in _only_frames(window, replacements):
        _require_order(at, offset, length, source.size)
        yield from window.pieces(at, offset)
        yield from pieces
        at = offset + length
    yield from window.pieces(at, source.size)


class _Descriptor:
    """A file without a place of its own, that others read from."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at = 0

    def read(self, size: int, /) -> bytes:
        data = os.pread(self._descriptor, size, self._at)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0, /) -> int:
        base = os.fstat(self._descriptor).st_size if whence == os.SEEK_END else 0
        self._at = base + offset
        return self._at


def _only_frames(source: Source, replacements: Iterable[Replacement]) -> Iterator[Replacement]:
    """The same; the last to see that a Zstandard file gets nothing into it but its frames."""
    file = dictionary_of(source)
    why = why_not_written(source, compression_at(source, 0))
    for offset, length, pieces in replacements:
        if why:
            raise InputRefused(f"not rewritten: {why}", offset=offset)
        looked_at = frames_only(pieces, file.dictionary_id) if file.is_zstd else pieces
        yield Replacement(offset, length, looked_at)


def write_pieces(target: BinaryIO, pieces: Iterable[bytes | memoryview]) -> int:
    """Write a new file whole; return the bytes written.

    Raises:
        StoreUnavailable: if the disk is full.
    """
    written = 0
    with _disk_may_be_full():
        for piece in pieces:
            target.write(piece)
            written += len(piece)
        target.flush()
    return written


@contextmanager
def _disk_may_be_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreUnavailable(
                "the disk is full; nothing was published: make room and run again"
            ) from error
        raise


def _copy(
    target_file: WindowCopy | KernelCopy, size: int, replacements: Iterable[Replacement]
) -> int:
    at = 0
    with _disk_may_be_full():
        for offset, length, pieces in replacements:
            _require_order(at, offset, length, size)
            target_file.copy(at, offset)
            for piece in pieces:
                target_file.write(piece)
            at = offset + length
        target_file.copy(at, size)
        target_file.flush()
    return target_file.written


def _require_order(at: int, offset: int, length: int, size: int) -> None:
    if offset < at or offset + length > size:
        raise PinakesError(f"a replacement at {offset} overlaps, or reaches past the end")

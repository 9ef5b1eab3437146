"""Copy an archive file with some stretches replaced; the rest verbatim.

Runs between replacements are copied by the kernel where it can
(`copy_file_range(2)`): compressed members that stay are not even read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import NamedTuple

from pinakes.errors import PinakesError, StoreUnavailable

_COPY_BYTES = 1 << 22
_FALL_BACK = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}


class Replacement(NamedTuple):
    """`[offset, offset + length)` of the old file becomes `pieces` in the new one."""

    offset: int
    length: int
    pieces: Iterable[bytes | memoryview]


def copy_with_replacements(source: int, target: int, replacements: Iterable[Replacement]) -> int:
    """Write to `target` what `source` holds, replacements in place; return the bytes written.

    Both are open file descriptors.  Replacements come in order of offset and do not
    overlap.

    Raises:
        PinakesError: where they do.
        StoreUnavailable: where the disk is full.
    """
    size = os.fstat(source).st_size
    at = written = 0
    try:
        for offset, length, pieces in replacements:
            if offset < at or offset + length > size:
                raise PinakesError(f"a replacement at {offset} overlaps, or reaches past the end")
            written += _copy(source, target, at, offset)
            written += sum(_write(target, piece) for piece in pieces)
            at = offset + length
        return written + _copy(source, target, at, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreUnavailable(
                "the disk is full; nothing was published: make room and run again"
            ) from error
        raise


def _copy(source: int, target: int, start: int, end: int) -> int:
    at = start
    while at < end:
        count = _copy_some(source, target, at, min(end - at, _COPY_BYTES))
        if not count:
            raise PinakesError(f"the file became shorter while it was copied, at {at}")
        at += count
    return end - start


def _copy_some(source: int, target: int, offset: int, count: int) -> int:
    if hasattr(os, "copy_file_range"):
        try:
            return os.copy_file_range(source, target, count, offset_src=offset)
        except OSError as error:
            if error.errno not in _FALL_BACK:
                raise
    return _write(target, os.pread(source, count, offset))


def _write(target: int, data: bytes | memoryview) -> int:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
    return len(data)

"""Files that appear whole or not at all.

A file is written under a hidden name in the same folder, synced to disk, and linked to its
name; an existing file is never replaced.  A process that dies leaves the hidden file, which
the next run of the same command overwrites.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pinakes.archive_store.local_files import sync_folder
from pinakes.errors import Conflict, InputRefused, StoreUnavailable

_SUFFIX = ".pinakes-part"
_MOST_BYTES = 255 - len(f".{_SUFFIX}")
"""Of a name; the hidden name of a longer one is its hash."""


def hidden_name(target: Path) -> Path:
    """The name under which `target` is written."""
    name = os.fsencode(target.name)
    if len(name) > _MOST_BYTES:
        name = hashlib.sha256(name).hexdigest().encode()
    return target.with_name(f".{os.fsdecode(name)}{_SUFFIX}")


@contextmanager
def written_aside(target: Path) -> Iterator[int]:
    """Yield a descriptor to write to; publish the file as `target` if nothing failed.

    Raises:
        InputRefused: if `target` exists, or its name is too long for the file system.
        Conflict: if another process is writing it.
        StoreUnavailable: if the disk is full.
    """
    if os.path.lexists(target):
        raise InputRefused("exists already and is not replaced", file=str(target))
    hidden = hidden_name(target)
    descriptor = _open_hidden(hidden)
    try:
        _lock(descriptor, target)
        os.ftruncate(descriptor, 0)
        try:
            yield descriptor
            os.fsync(descriptor)
            _publish(hidden, target)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreUnavailable(
                    "the disk is full; nothing was published: make room and run again",
                    file=str(target),
                ) from error
            if error.errno == errno.ENAMETOOLONG:
                raise InputRefused(
                    "the name is too long for the file system", file=str(target)
                ) from error
            raise
        finally:
            with suppress(FileNotFoundError):
                hidden.unlink()
    finally:
        os.close(descriptor)
    sync_folder(target.parent)


def _open_hidden(hidden: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(hidden, flags, 0o666)
    if os.fstat(descriptor).st_nlink > 1:
        # Published by a process that died before it removed the hidden name: this may be a
        # published file, under any name.
        os.close(descriptor)
        hidden.unlink()
        descriptor = os.open(hidden, flags, 0o666)
    return descriptor


def _lock(descriptor: int, target: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Conflict("another process is writing this file", file=str(target)) from error


def _publish(hidden: Path, target: Path) -> None:
    # A link fails atomically if the name exists; a rename would replace it.
    try:
        os.link(hidden, target)
    except FileExistsError as error:
        raise InputRefused("exists already and is not replaced", file=str(target)) from error

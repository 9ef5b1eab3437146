"""What a local archive store asks of the file system: whole, synced, never replacing.

Every error of the operating system comes out as one of ours.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from isal import isal_zlib

from pinakes.errors import InputRefused, StoreUnavailable

_READ_BYTES = 1 << 18
# What a writer leaves in the page cache before it asks for it to be dropped.
_KEPT_BYTES = 4 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_NO_FILE = {errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn errors of the operating system about `name` into ours."""
    try:
        yield
    except OSError as error:
        _raise_ours(error, name)


def _raise_ours(error: OSError, name: str) -> NoReturn:
    code, reason = error.errno, error.strerror or str(error)
    if code == errno.EEXIST:
        raise InputRefused("a file of that name is there already", file=name) from error
    if code in _NOT_THERE:
        raise InputRefused("there is no such file in the store", file=name) from error
    if code in _NO_FILE:
        raise InputRefused(f"cannot be a file: {reason}", file=name) from error
    if code in _FULL:
        raise StoreUnavailable(
            f"the disk is full ({reason}), and nothing was published: make room and run it again",
            file=name,
        ) from error
    raise StoreUnavailable(f"the store failed: {reason}", file=name) from error


class AsideIO(io.FileIO):
    """A new file, unbuffered; a write takes all it is given, or raises StoreUnavailable.

    What was written is sent to disk and dropped from the page cache as it goes: a landing of
    terabytes would push out what others read, and pays for finding fresh pages more than for
    writing to them (docs/adr/0013-archive-store.md).
    """

    def __init__(self, path: Path) -> None:
        self._kept_bytes = 0
        # Never the file itself: what a dead writer left here may be the other name of a
        # published file (it died between link and unlink), which "w" would cut to nothing.
        path.unlink(missing_ok=True)
        super().__init__(path, "x+")

    def write(self, data: Any, /) -> int:
        with memoryview(data) as whole, whole.cast("B") as rest, translated(str(self.name)):
            done = 0
            while done < rest.nbytes:
                done += super().write(rest[done:]) or 0
            self._kept_bytes += done
            if self._kept_bytes >= _KEPT_BYTES:
                drop_pages(self.fileno())
                self._kept_bytes = 0
            return done


def link_new(old: Path, new: Path) -> None:
    """Give a file another name as well, atomically; Raises FileExistsError where it is taken.

    Where the file system has no hard links, the file is renamed after a look: claims, not
    this, must then keep two writers of one name apart.
    """
    make_folder(new.parent)
    try:
        os.link(old, new, follow_symlinks=False)
    except FileExistsError:
        if not new.samefile(old):  # else: broken off after the link, and done again
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if new.exists():
            raise FileExistsError(errno.EEXIST, "there already", str(new)) from error
        old.rename(new)
    sync_folder(new.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each on disk in the one above."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def walk_files(folder: Path, inside: str = "") -> Iterator[tuple[str, int]]:
    """Name and size of the files below a folder, in order of their names; no hidden ones.

    One folder's names are in memory at a time.  A folder that cannot be read is an error,
    and not a folder without files.
    """
    with os.scandir(folder) as found:
        entries = [entry for entry in found if not entry.name.startswith(".")]
    # A folder sorts with its `/`: `a-b` before `a/b`.
    named = sorted((e.name + "/" * e.is_dir(follow_symlinks=False), e) for e in entries)
    for name, entry in named:
        if name.endswith("/"):
            yield from walk_files(folder / entry.name, inside + name)
            continue
        try:
            size = entry.stat().st_size
        except FileNotFoundError:  # deleted since
            continue
        if entry.is_file():
            yield inside + name, size


def drop_pages(descriptor: int) -> None:
    """Ask the kernel to write a file out and forget it; what is not yet written stays.

    Nothing where the system takes no such advice (macOS).
    """
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    state = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        for piece in _pieces(file):
            state.update(piece)
    return state.hexdigest()


def crc32_from_disk(path: Path) -> int:
    """The CRC-32 of a file that was synced, read from the disk and not from the page cache."""
    crc = 0
    with path.open("rb", buffering=0) as file:
        drop_pages(file.fileno())
        for number, piece in enumerate(_pieces(file), start=1):
            crc = isal_zlib.crc32(piece, crc)
            if not number % (_KEPT_BYTES // _READ_BYTES):
                drop_pages(file.fileno())
        drop_pages(file.fileno())
    return crc


def _pieces(file: io.FileIO) -> Iterator[memoryview]:
    """A file in pieces, each valid until the next."""
    buffer = memoryview(bytearray(_READ_BYTES))
    while size := file.readinto(buffer):
        yield buffer[:size]

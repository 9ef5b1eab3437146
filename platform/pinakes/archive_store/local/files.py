"""File system calls of the local archive store: synced, and never replacing a file.

`translated` turns errors of the operating system into ours.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from isal import isal_zlib

from pinakes.errors import Conflict, InputRefused, StoreUnavailable

_READ_BYTES = 1 << 18
# Bytes written before the kernel is asked to drop them from the page cache.
_KEPT_BYTES = 4 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_NO_FILE = {errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn errors of the operating system into ours, with `name` as their file."""
    try:
        yield
    except OSError as error:
        _raise_ours(error, name)


def _raise_ours(error: OSError, name: str) -> NoReturn:
    code, reason = error.errno, error.strerror or str(error)
    if code == errno.EEXIST:
        raise InputRefused("a file of this name exists already", file=name) from error
    if code in _NOT_THERE:
        raise InputRefused("file not found in the store", file=name) from error
    if code in _NO_FILE:
        raise InputRefused(f"the file system refuses this name: {reason}", file=name) from error
    if code in _FULL:
        raise StoreUnavailable(
            f"the disk is full ({reason}); nothing was published: make room and run it again",
            file=name,
        ) from error
    raise StoreUnavailable(f"the store failed: {reason}", file=name) from error


class LocalAsideIO(io.FileIO):
    """A new file, unbuffered; `write` writes all bytes or raises StoreUnavailable.

    Written bytes are sent to disk and dropped from the page cache on the way: a landing of
    terabytes would evict what others read, and allocating pages costs more than writing to
    them (docs/adr/0013-archive-store.md).
    """

    def __init__(self, path: Path) -> None:
        self._kept_bytes = 0
        # Never truncate: the leftover of a dead writer may be a second name of a published file
        # (the writer died between link and unlink).
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
    """Give a file a second name, atomically; Raises FileExistsError if the name is taken.

    Without hard links, the file is renamed after a check that the name is free, which is not
    atomic: claims or locks must then keep two writers of one name apart.
    """
    make_folder(new.parent)
    try:
        os.link(old, new, follow_symlinks=False)
    except FileExistsError:
        if not new.samefile(old):  # else: interrupted after the link, and repeated
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if new.exists():
            raise FileExistsError(errno.EEXIST, "there already", str(new)) from error
        old.rename(new)
    sync_folder(new.parent)


def move_folder(old: Path, new: Path) -> None:
    """Give a folder another name; Raises FileExistsError if the name is taken.

    The check that the name is free is not atomic.
    """
    make_folder(new.parent)
    if new.exists():
        raise FileExistsError(errno.EEXIST, "there already", str(new))
    old.rename(new)
    sync_folder(new.parent)


def lock_alone(descriptor: int, path: Path, *, doing: str) -> None:
    """Lock an open file or folder against other processes, until it is closed.

    Raises Conflict where another has it: "another process is `doing`".
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Conflict(f"another process is {doing}", file=str(path)) from error


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and sync each parent."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder: the names in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def walk_files(
    folder: Path, inside: str = "", *, root: str | None = None, entered: tuple[str, ...] = ()
) -> Iterator[tuple[str, int]]:
    """Yield name and size of the files below a folder, sorted by name, without hidden ones.

    Folders behind links are left out; but with `root`, a real path, those elsewhere are entered.
    Memory: the names of one folder.  A folder that cannot be read is an error, not an empty
    folder.
    """
    with os.scandir(folder) as found:
        entries = [entry for entry in found if not entry.name.startswith(".")]
    # A folder sorts with its `/`: `a-b` comes before `a/b`.
    named = sorted((e.name + "/" * _is_walked(e, root, entered), e) for e in entries)
    for name, entry in named:
        if name.endswith("/"):
            behind = (os.path.realpath(entry.path),) if entry.is_symlink() else ()
            yield from walk_files(
                folder / entry.name, inside + name, root=root, entered=entered + behind
            )
            continue
        try:
            size = entry.stat().st_size
        except FileNotFoundError:  # deleted in the meantime
            continue
        if entry.is_file():
            yield inside + name, size


def _is_walked(entry: os.DirEntry[str], root: str | None, entered: tuple[str, ...]) -> bool:
    if not entry.is_symlink():
        return entry.is_dir()
    return root is not None and leads_elsewhere(entry.path, root, entered)


def leads_elsewhere(link: str, root: str, entered: tuple[str, ...] = ()) -> bool:
    """Whether a link leads to a folder that neither is in the folder of this real path nor holds
    it, and that was not entered already."""
    real = os.path.realpath(link)
    is_apart = not (_is_within(real, root) or _is_within(root, real))
    return os.path.isdir(real) and is_apart and real not in entered


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def iter_links(folder: Path, *, root: str, entered: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the path of each link below a folder, of hidden ones too, and of those in the folders
    elsewhere that links lead to; `root` is the real path of the first folder."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except FileNotFoundError:  # none yet, or deleted in the meantime
        return
    for entry in entries:
        if not entry.is_symlink():
            if entry.is_dir():
                yield from iter_links(Path(entry.path), root=root, entered=entered)
            continue
        yield entry.path
        if leads_elsewhere(entry.path, root, entered):
            behind = (*entered, os.path.realpath(entry.path))
            yield from iter_links(Path(entry.path), root=root, entered=behind)


def drop_pages(descriptor: int) -> None:
    """Ask the kernel to write a file out and drop its pages; pages not yet written stay.

    Does nothing on systems without `posix_fadvise` (macOS).
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
    """The CRC-32 of a synced file, read from the disk instead of the page cache."""
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
    """Yield a file in pieces, each valid until the next."""
    buffer = memoryview(bytearray(_READ_BYTES))
    while size := file.readinto(buffer):
        yield buffer[:size]

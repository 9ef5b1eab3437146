"""Files of a folder that appear whole or not at all, by path and without an archive store.

A file is written under a hidden name next to its place, brought to disk, and given its name;
an existing file is replaced only on request.  A process that dies leaves the hidden file,
which the next run of the same command takes over.

`local.LocalArchiveStore` writes in `.landing` instead, under a token: its writers are kept
apart by claims in the row store.  Here there are none, so a lock keeps them apart, and nothing
but the file is left in a user's folder.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from pinakes.errors import InputRefused, StoreUnavailable
from pinakes.warc.opening import open_file
from pinakes.warc.source import SeekableFile

from .files import link_new, lock_alone, make_folder, sync_folder

_SUFFIX = ".pinakes-part"
_REFUSED = {
    errno.ENAMETOOLONG: "name too long for the file system",
    errno.EFBIG: "larger than the file system, or `ulimit -f`, lets a file be; not written",
}
_MOST_BYTES = 255 - len(f".{_SUFFIX}")
"""Of a name; a longer one is hidden by its hash."""


def hidden_name(target: Path) -> Path:
    """The name under which `target` is written."""
    name = os.fsencode(target.name)
    if len(name) > _MOST_BYTES:
        name = hashlib.sha256(name).hexdigest().encode()
    return target.with_name(f".{os.fsdecode(name)}{_SUFFIX}")


class HiddenFile:
    """A file under a hidden name, until it is published."""

    def __init__(self, target: Path, hidden: Path, file: BinaryIO) -> None:
        self._target, self._hidden = target, hidden
        self.file = file

    def open(self) -> BinaryIO:
        """Open what was written for reading, unbuffered; nothing may be written afterwards."""
        self.file.flush()
        return cast("BinaryIO", self._hidden.open("rb", buffering=0))

    def publish(self, *, replace: bool = False) -> None:
        """Bring it to disk and give it its name.

        Raises:
            InputRefused: the name is taken, without `replace`.
        """
        self.file.flush()
        os.fsync(self.file.fileno())
        if replace:
            put_in_place(self._hidden, self._target)
            return
        try:
            link_new(self._hidden, self._target)
        except FileExistsError as error:
            raise _exists_already(self._target) from error


class _Written(io.FileIO):
    """A file that is written by calls that can be counted: tests end the process at each."""

    def write(self, data: Any, /) -> int:
        return os.write(self.fileno(), data)


@contextmanager
def hidden_file(target: Path) -> Iterator[HiddenFile]:
    """Give a file to write next to `target`; it is removed at the end unless it was published.

    Errors of the operating system pass through: see `written_aside`.

    Raises:
        Conflict: another process is writing it.
    """
    hidden = hidden_name(target)
    descriptor = _open_locked(hidden, target)
    try:
        os.ftruncate(descriptor, 0)
        file = io.BufferedRandom(_Written(descriptor, "r+", closefd=False))
        try:
            yield HiddenFile(target, hidden, cast("BinaryIO", file))
        finally:
            with suppress(FileNotFoundError):
                hidden.unlink()
            # What a file that was given up has not written is not missed.
            with suppress(OSError):
                file.close()
    finally:
        os.close(descriptor)


@contextmanager
def written_aside(target: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to; publish it as `target` if all went well.

    With `replace` it takes the place of a file that is there, at once.

    Raises:
        InputRefused: where `target` exists, or the file system takes no such name, or no file of
            that size.
        Conflict: where another process is writing it.
        StoreUnavailable: where the disk is full.
    """
    if not replace:
        require_absent(target)
    with _translated(target), hidden_file(target) as aside:
        yield aside.file
        aside.publish(replace=replace)


class OutputFolder:
    """A folder of a user, into which new files are put: `rewrite.new_file.NewFiles`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def named(self, name: str) -> str:
        """The path of a file."""
        return str(self._folder / name)

    def has(self, name: str) -> bool:
        """Whether anything has this name."""
        remove_leftover(self._folder / name)
        return os.path.lexists(self._folder / name)

    def open(self, name: str) -> AbstractContextManager[SeekableFile]:
        """Open a file for reading; `Raises` InputRefused where that cannot be."""
        return open_file(self._folder / name)

    @contextmanager
    def create_aside(self, name: str) -> Iterator[HiddenFile]:
        """A file to write; `Raises` as `written_aside`."""
        target = self._folder / name
        with _translated(target), hidden_file(target) as aside:
            yield aside


@contextmanager
def _translated(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreUnavailable(
                "the disk is full; nothing was published: make room and run it again",
                file=str(target),
            ) from error
        if error.errno in _REFUSED:
            raise InputRefused(_REFUSED[error.errno], file=str(target)) from error
        raise


def require_absent(target: Path) -> None:
    """Raise InputRefused where `target` exists."""
    if os.path.lexists(target):
        raise _exists_already(target)


def put_in_place(fresh: Path, path: Path) -> None:
    """Rename `fresh`, which is on disk, to `path`; a file that is there is replaced."""
    fresh.replace(path)
    sync_folder(path.parent)


def keep_as(path: Path, kept: Path) -> None:
    """Give a file the name `kept` as well, before `path` is replaced: no name is ever missing.

    Nothing where `kept` exists.
    """
    make_folder(kept.parent)
    if not kept.exists():
        os.link(path, kept)
        sync_folder(kept.parent)


def remove_leftover(target: Path) -> None:
    """Remove the hidden name of a process that died after it had published `target`."""
    hidden = hidden_name(target)
    with suppress(FileNotFoundError):
        if hidden.samefile(target):
            hidden.unlink()


def _open_locked(hidden: Path, target: Path) -> int:
    """Open the hidden file, made if needed, that no other process writes."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        descriptor = os.open(hidden, flags, 0o666)
        try:
            lock_alone(descriptor, target, doing="writing this file")
            if _is_unpublished(descriptor, hidden):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_unpublished(descriptor: int, hidden: Path) -> bool:
    """Whether the locked file has the hidden name and no other.

    If not, it is a published file, which must not be changed: by a process that died before it
    removed the hidden name, or by one that ended between our `open` and our `flock`.
    """
    ours = os.fstat(descriptor)
    try:
        if not os.path.samestat(ours, hidden.lstat()):
            return False
    except FileNotFoundError:
        return False
    if ours.st_nlink > 1:
        hidden.unlink()
        return False
    return True


def _exists_already(target: Path) -> InputRefused:
    return InputRefused("exists already and is not replaced", file=str(target))

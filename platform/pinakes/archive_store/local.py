"""A folder as an archive store.

    FOLDER/crawl/path.warc.gz        published
    FOLDER/.landing/TOKEN            written aside

Publishing links the file to its name, which the kernel refuses where the name is taken,
after the file was brought to disk; then the folder is.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from pinakes.errors import InputRefused, StoreUnavailable

from .names import check_file_name
from .port import StoredFile

ASIDE = ".landing"
_READ_BYTES = 1 << 20


class LocalArchiveStore:
    """Archive files below one folder of a local (or mounted) file system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, name: str) -> Path:
        """Where a name lies; `Raises` InputRefused for a name that is none."""
        return self.folder / check_file_name(name)

    def open(self, name: str) -> BinaryIO:
        path = self.path_of(name)
        try:
            return cast("BinaryIO", path.open("rb", buffering=0))
        except OSError as error:
            raise InputRefused(f"cannot be read: {error.strerror}", file=name) from error

    def size(self, name: str) -> int | None:
        try:
            return self.path_of(name).stat().st_size
        except FileNotFoundError:
            return None

    @contextmanager
    def create_aside(self, token: str) -> Iterator[LocalAsideFile]:
        folder = self.folder / ASIDE
        with _translated(token):
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / check_file_name(token).name
            file = path.open("w+b", buffering=0)
            try:
                with file:
                    yield LocalAsideFile(self, path, cast("BinaryIO", file))
            finally:
                with suppress(FileNotFoundError):
                    path.unlink()

    def rename(self, name: str, new_name: str) -> None:
        old, new = self.path_of(name), self.path_of(new_name)
        with _translated(new_name):
            _link(old, new, new_name)
            old.unlink()
            sync_folder(old.parent)

    def checksum(self, name: str) -> str:
        with self.open(name) as file:
            return _sha256(file)

    def delete(self, name: str) -> None:
        path = self.path_of(name)
        with suppress(FileNotFoundError), _translated(name):
            path.unlink()
            sync_folder(path.parent)

    def list(self, prefix: str = "") -> Iterator[StoredFile]:
        start = self.path_of(prefix) if prefix else self.folder
        found = []
        for folder, folders, files in os.walk(start):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                path = Path(folder, name)
                if not name.startswith("."):
                    inside = path.relative_to(self.folder).as_posix()
                    found.append(StoredFile(inside, path.stat().st_size))
        yield from sorted(found)


class LocalAsideFile:
    """A file in `.landing`, until it is published."""

    def __init__(self, store: LocalArchiveStore, path: Path, file: BinaryIO) -> None:
        self._store = store
        self._path = path
        self.file = file

    def checksum(self) -> str:
        os.fsync(self.file.fileno())
        with self._path.open("rb", buffering=0) as stored:
            return _sha256(cast("BinaryIO", stored))

    def publish(self, name: str) -> None:
        target = self._store.path_of(name)
        self.file.flush()
        os.fsync(self.file.fileno())
        _link(self._path, target, name)
        self._path.unlink()


def _link(old: Path, new: Path, name: str) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Refused where the name is taken; a rename would replace what is there.
        os.link(old, new)
    except FileExistsError as error:
        raise InputRefused("a file of that name is there already", file=name) from error
    except FileNotFoundError as error:
        raise InputRefused("is not there", file=name) from error
    sync_folder(new.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(file: BinaryIO) -> str:
    state = hashlib.sha256()
    while piece := file.read(_READ_BYTES):
        state.update(piece)
    return state.hexdigest()


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _raise_translated(error, name)


def _raise_translated(error: OSError, name: str) -> NoReturn:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise StoreUnavailable(
            "the disk is full; nothing was published: make room and run again", file=name
        ) from error
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO):
        raise StoreUnavailable(
            f"the store cannot be written: {error.strerror}", file=name
        ) from error
    raise error

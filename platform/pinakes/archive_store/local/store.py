"""A folder as an archive store.

    FOLDER/crawl/path.warc.gz        published
    FOLDER/.landing/TOKEN            written aside, a file or a folder of files
    FOLDER/.quarantine/ID/…          what a repair has replaced

Publishing syncs the file, links it to its name (the kernel refuses a name that is taken), and
syncs the folder.  `pyarrow.fs` is not used: its move replaces files, and it syncs nothing
(docs/adr/0013-archive-store.md).
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from pinakes.archive_store.names import (
    check_file_name,
    check_place,
    check_stored_name,
    check_token,
    may_be_folder,
)
from pinakes.archive_store.port import ASIDE, QUARANTINE, PublishedFile
from pinakes.errors import DigestMismatch, InputRefused

from .files import (
    LocalAsideIO,
    crc32_from_disk,
    drop_pages,
    iter_links,
    leads_elsewhere,
    link_new,
    make_folder,
    move_folder,
    sha256_of,
    sync_folder,
    translated,
)
from .files import walk_files as _walk_files
from .whole_files import hidden_file, hidden_name


class LocalArchiveStore:
    """Archive files below one folder of a local (or mounted) file system."""

    def __init__(self, folder: Path) -> None:
        # Tasks of a job change the working folder, in which other threads go on.
        self.folder = folder.absolute()

    def path_of(self, name: str) -> Path:
        """The path of a name; `Raises` InputRefused for an invalid name."""
        return self.folder / check_stored_name(name)

    def _own(self, name: str) -> Path:
        """The path of a name that leads to no other one in here; `Raises` InputRefused.

        Of two names of one file an act would read the one to prove that the other may go.
        """
        path = self.path_of(name)
        if any(map(os.path.islink, (path, *path.parents[: name.count("/")]))):
            others = (other for other in self._names_of(path) if other != name)
            leads_to = next(others, None)
            if leads_to is not None:
                raise InputRefused(
                    f"a link to {leads_to}, so not a copy of its own: put a copy in its place",
                    file=name,
                )
        return path

    def holds(self, path: Path) -> bool:
        """Whether a path is in here, or in a folder elsewhere that a link in here leads to."""
        return bool(self._names_of(path))

    def _names_of(self, path: Path) -> list[str]:
        """The names in here of what a path leads to; none if that is out of here."""
        real = os.path.realpath(path)
        return [
            inside + real[len(place) :] for place, inside in self._places if real.startswith(place)
        ]

    @cached_property
    def _root(self) -> str:
        return os.path.realpath(self.folder)

    @cached_property
    def _places(self) -> list[tuple[str, str]]:
        """The real paths of this folder and of those elsewhere that links in it lead to, each with
        what names of files there begin with.  Reads every folder."""
        linked = (
            (os.path.join(os.path.realpath(link), ""), f"{os.path.relpath(link, self.folder)}/")
            for link in iter_links(self.folder, root=self._root)
            if leads_elsewhere(link, self._root)
        )
        return [(os.path.join(self._root, ""), ""), *linked]

    @cached_property
    def _links(self) -> dict[str, str]:
        """The links that lead to a name in here, by that.  Reads every folder."""
        found: dict[str, str] = {}
        for link in iter_links(self.folder, root=self._root):
            name = os.path.relpath(link, self.folder)
            found |= {other: name for other in self._names_of(Path(link)) if other != name}
        return found

    def _require_no_link_to(self, name: str) -> None:
        folders = name.split("/")
        for count in range(len(folders), 0, -1):
            link = self._links.get("/".join(folders[:count]))
            if link is not None:
                raise InputRefused(
                    f"{link} is a link to it, and would lead nowhere: put a copy in its place",
                    file=name,
                )

    def open(self, name: str) -> BinaryIO:
        path = self._own(name)
        with translated(name):
            if not stat.S_ISREG(path.stat().st_mode):
                raise InputRefused("not a regular file", file=name)
            return cast("BinaryIO", path.open("rb", buffering=0))

    def size(self, name: str) -> int | None:
        try:
            status = self.path_of(name).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    @contextmanager
    def create_aside(self, token: str) -> Iterator[LocalAsideFile]:
        path = self._aside_path(token)
        with translated(token):
            make_folder(path.parent)
        # A signal may arrive as soon as the file exists.
        try:
            with translated(token):
                file = LocalAsideIO(path)
            with file:
                yield LocalAsideFile(self, path, file)
        finally:
            with suppress(FileNotFoundError), translated(token):
                path.unlink(missing_ok=True)

    def folder_aside(self, token: str) -> str:
        return os.fspath(self._aside_path(token))

    def publish_from(self, token: str, inner: str, name: str) -> None:
        self._move(self._aside_path(token) / check_file_name(inner), inner, name)

    def rename(self, name: str, new_name: str) -> None:
        self._move(self.folder / check_place(name), name, new_name)

    def _move(self, old: Path, name: str, new_name: str) -> None:
        new = self.folder / check_place(new_name)
        with translated(name):
            is_folder = stat.S_ISDIR(old.lstat().st_mode) and may_be_folder(name)
        with translated(new_name):
            if is_folder:
                move_folder(old, new)
            else:
                _give_name(old, new)
                old.unlink(missing_ok=True)
            sync_folder(old.parent)

    def checksum(self, name: str) -> str:
        path = self._own(name)
        with translated(name):
            return sha256_of(path)

    def delete(self, name: str) -> None:
        path = self.folder / check_place(name)
        if not name.startswith(ASIDE):
            self._require_no_link_to(name)
        with translated(name), suppress(FileNotFoundError, NotADirectoryError):
            if may_be_folder(name) and path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            sync_folder(path.parent)

    def list(self, prefix: str = "") -> Iterator[PublishedFile]:
        if prefix == ASIDE:
            yield from self._list_aside()
            return
        folder = self.folder / (prefix if prefix in ("", QUARANTINE) else check_place(prefix))
        inside = f"{prefix}/" if prefix else ""
        if folder.is_dir():
            with translated(prefix or os.fspath(self.folder)):
                for name, size in _walk_files(folder, inside, root=self._root):
                    yield PublishedFile(name, size)

    def _list_aside(self) -> Iterator[PublishedFile]:
        folder = self.folder / ASIDE
        if folder.is_dir():
            with translated(ASIDE):
                for token in sorted(os.listdir(folder)):
                    path = folder / token
                    if path.is_dir():
                        size = sum(size for _, size in _walk_files(path))
                    else:
                        try:
                            size = path.stat().st_size
                        except FileNotFoundError:  # published in the meantime
                            continue
                    yield PublishedFile(f"{ASIDE}/{token}", size)

    def _aside_path(self, token: str) -> Path:
        return self.folder / check_token(token)


def _give_name(old: Path, new: Path) -> None:
    """`link_new`; where the name is on another disk, it is given to a copy."""
    try:
        link_new(old, new)
    except FileExistsError:
        is_elsewhere = old.stat().st_dev != new.stat().st_dev
        if not (is_elsewhere and sha256_of(old) == sha256_of(new)):  # else: repeated
            raise
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _give_name_to_copy(old, new)


def _give_name_to_copy(old: Path, new: Path) -> None:
    """It is read back, and compared with the file, before it has the name."""
    with old.open("rb") as file, hidden_file(new) as aside:
        shutil.copyfileobj(file, aside.file)
        aside.file.flush()
        os.fsync(aside.file.fileno())
        drop_pages(aside.file.fileno())
        if sha256_of(hidden_name(new)) != sha256_of(old):
            why = "what was copied to another disk is not what was read: check the disk"
            raise DigestMismatch(why, file=str(new))
        aside.publish()


class LocalAsideFile:
    """A file in `.landing`, until it is published."""

    def __init__(self, store: LocalArchiveStore, path: Path, file: LocalAsideIO) -> None:
        self._store = store
        self._path = path
        self._file = file

    @property
    def file(self) -> BinaryIO:
        return cast("BinaryIO", self._file)

    def checksum(self) -> str:
        with translated(self._path.name):
            os.fsync(self._file.fileno())
            return sha256_of(self._path)

    def crc32(self) -> int:
        with translated(self._path.name):
            os.fsync(self._file.fileno())
            return crc32_from_disk(self._path)

    def open(self) -> BinaryIO:
        with translated(self._path.name):
            return cast("BinaryIO", self._path.open("rb", buffering=0))

    def publish(self, name: str) -> None:
        target = self._store.path_of(name)
        with translated(name):
            os.fsync(self._file.fileno())
            _give_name(self._path, target)
            self._path.unlink(missing_ok=True)

"""A folder in HDFS as an archive store.

    FOLDER/crawl/path.warc.gz        published
    FOLDER/.landing/TOKEN/NONCE      written aside
    FOLDER/.quarantine/ID/…          what a repair has replaced

Publishing is HDFS's rename without overwriting, which is atomic and refuses a taken name.
Each writer's file is named by a nonce: a writer that was wrongly thought dead cannot publish,
truncate or delete the file of its successor (docs/adr/0013-archive-store.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING, BinaryIO, cast

from isal import isal_zlib

from pinakes.archive_store.names import (
    check_file_name,
    check_place,
    check_stored_name,
    check_token,
    may_be_folder,
)
from pinakes.archive_store.port import ASIDE, QUARANTINE, PublishedFile
from pinakes.errors import InputRefused, StoreUnavailable

from .calls import HdfsCalls
from .checksums import kept_checksum
from .connection import HdfsConnection
from .errors import HdfsFileNotFound
from .reading import HdfsFile, identity_of, pieces_of
from .writing import HdfsAsideIO

if TYPE_CHECKING:
    from hdfs_native import Client


from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hdfs_native import Client


# Smaller files are read back faster than two web servers answer.
_ASKED_FROM_BYTES = 8 << 20


class HdfsArchiveStore:
    """Archive files below one folder of HDFS.  Safe for several threads, and across forks."""

    def __init__(
        self, connection: HdfsConnection, *, on_retry: Callable[[], None] = lambda: None
    ) -> None:
        """`on_retry` is called before each repeated call."""
        self.connection = connection
        self._calls = HdfsCalls(connection, on_retry)

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        self._calls.close()

    def open(self, name: str) -> BinaryIO:
        return cast("BinaryIO", HdfsFile(self._calls, self._path(name), name))

    def size(self, name: str) -> int | None:
        path = self._path(name)
        try:
            status = self._calls.ask(name, lambda client: client.get_file_info(path))
        except HdfsFileNotFound:
            return None
        return None if status.isdir else status.length

    @contextmanager
    def create_aside(self, token: str) -> Iterator[HdfsAsideFile]:
        folder = self._aside_folder(token)
        self._calls.ask(token, lambda client: client.delete(folder, True))
        aside = HdfsAsideFile(self, self._calls, f"{folder}/{token_hex(8)}", token)
        try:
            yield aside
        except BaseException:
            # Each of its two calls fails itself if it is the one that finds the connection lost.
            # What then remains is `ASIDE/token`.
            for _ in range(3):
                with suppress(StoreUnavailable):
                    aside.remove(self._calls.once)
            raise
        aside.remove(self._calls.ask)

    def folder_aside(self, token: str) -> str:
        return f"{self.connection.url}{self._aside_folder(token)[len(self.connection.folder) :]}"

    def publish_from(self, token: str, inner: str, name: str) -> None:
        self.move(f"{self._aside_folder(token)}/{check_file_name(inner)}", inner, name)

    def rename(self, name: str, new_name: str) -> None:
        self.move(self._place(name), name, new_name)

    def checksum(self, name: str) -> str:
        with HdfsFile(self._calls, self._path(name), name) as file:
            return sha256_of(file)

    def delete(self, name: str) -> None:
        if may_be_folder(name):
            place = self._place(name)
            self._calls.ask(name, lambda client: client.delete(place, True))
        elif self.size(name) is not None:
            path = self._path(name)
            self._calls.ask(name, lambda client: client.delete(path, False))

    def list(self, prefix: str = "") -> Iterator[PublishedFile]:
        root = self.connection.folder
        if prefix == ASIDE:
            for token, size in folder_sizes(self._calls, f"{root}/{ASIDE}"):
                yield PublishedFile(f"{ASIDE}/{token}", size)
            return
        below = prefix if prefix in ("", QUARANTINE) else check_place(prefix)
        folder = f"{root}/{below}".rstrip("/")
        for name, size in walk_files(self._calls, folder, f"{prefix}/" if prefix else ""):
            yield PublishedFile(name, size)

    def move(self, path: str, name: str, new_name: str) -> None:
        """Rename the file at `path` to a name that is not taken.

        If the answer was lost and the call is repeated, HDFS finds no file to rename; then the
        file of the new name is compared.
        """
        target = self._place(new_name)
        status = self._calls.ask(name, lambda client: client.get_file_info(path))
        if status.isdir and not may_be_folder(name):
            raise HdfsFileNotFound("this is a folder, not a file", file=name)
        parent = target.rpartition("/")[0]
        try:
            self._calls.ask(new_name, lambda client: client.mkdirs(parent, create_parent=True))
        except HdfsFileNotFound as error:
            raise InputRefused("a file exists where a folder is needed", file=new_name) from error

        def rename(client: Client) -> None:
            try:
                client.rename(path, target)
            except FileNotFoundError:
                if identity_of(client.get_file_info(target)) != identity_of(status):
                    raise

        self._calls.ask(new_name, rename)

    def _path(self, name: str) -> str:
        return f"{self.connection.folder}/{check_stored_name(name)}"

    def _place(self, name: str) -> str:
        return f"{self.connection.folder}/{check_place(name)}"

    def _aside_folder(self, token: str) -> str:
        return f"{self.connection.folder}/{check_token(token)}"


class HdfsAsideFile:
    """A file in `.landing`, until it is published."""

    def __init__(self, store: HdfsArchiveStore, calls: HdfsCalls, path: str, token: str) -> None:
        from hdfs_native import WriteOptions

        connection = store.connection
        options = WriteOptions(
            block_size=connection.block_bytes,
            replication=connection.replication,
            overwrite=True,  # its own, if an answer was lost
        )
        self._store = store
        self._calls = calls
        self._path = path
        self._token = token
        self._web = connection.web
        self._file = HdfsAsideIO(calls, path, token, options, vouched=bool(connection.web))

    @property
    def file(self) -> BinaryIO:
        return cast("BinaryIO", self._file)

    def checksum(self) -> str:
        self._file.finish()
        with HdfsFile(self._calls, self._path, self._token) as file:
            return sha256_of(file)

    def crc32(self) -> int:
        if self._is_vouched_for():
            return self._file.crc32
        crc = 0
        with HdfsFile(self._calls, self._path, self._token) as file:
            for piece in pieces_of(file):
                crc = isal_zlib.crc32(piece, crc)
        return crc

    def open(self) -> BinaryIO:
        self._file.finish()
        return cast("BinaryIO", HdfsFile(self._calls, self._path, self._token))

    def publish(self, name: str) -> None:
        self._file.finish()
        self._store.move(self._path, self._token, name)

    def remove(self, ask: Callable[[str, Callable[[Client], object]], object]) -> None:
        """Remove the file if it was not published, and the token's folder if it is empty."""
        self._file.close()
        folder = self._path.rpartition("/")[0]
        ask(self._token, lambda client: client.delete(self._path, False))
        with suppress(StoreUnavailable):  # it is not empty
            self._calls.once(self._token, lambda client: client.delete(folder, False))

    def _is_vouched_for(self) -> bool:
        """Whether HDFS's checksum of the file equals that of the bytes written."""
        status = self._file.finish()
        written = self._file.kept
        if written is None or status.length < _ASKED_FROM_BYTES:
            return False
        kept = kept_checksum(self._web, self._path, status.owner)
        return kept is not None and kept.comparable and kept.digest == written.digest()


def sha256_of(file: HdfsFile) -> str:
    """The SHA-256 of a file, in hex."""
    state = hashlib.sha256()
    for piece in pieces_of(file):
        state.update(piece)
    return state.hexdigest()


def walk_files(calls: HdfsCalls, folder: str, inside: str = "") -> Iterator[tuple[str, int]]:
    """Yield name and size of the files below a folder, sorted by name, without hidden ones.

    Memory: the names of one folder, because HDFS sorts by signed bytes, and folders without
    their `/`.  A folder that cannot be read is an error, not an empty folder; one that does not
    exist (any more) has no files.
    """
    for name, size in sorted(_entries(calls, folder)):
        if name.startswith("."):
            continue
        if name.endswith("/"):
            yield from walk_files(calls, f"{folder}/{name[:-1]}", inside + name)
        else:
            yield inside + name, size


def folder_sizes(calls: HdfsCalls, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the folders in a folder, sorted by name, each with the size of its files in bytes."""
    for name, _ in sorted(_entries(calls, folder)):
        if name.endswith("/"):
            found = _entries(calls, f"{folder}/{name[:-1]}")
            yield name[:-1], sum(size for _, size in found)


def _entries(calls: HdfsCalls, folder: str) -> list[tuple[str, int]]:
    """Name and size of each entry of a folder; folder names end with `/`."""

    def entries(client: Client) -> list[tuple[str, int]]:
        return [
            (status.path.rpartition("/")[2] + "/" * status.isdir, status.length)
            for status in client.list_status(folder)
            if status.path != folder  # HDFS lists a file as itself
        ]

    try:
        return calls.ask(folder, entries)
    except HdfsFileNotFound:
        return []

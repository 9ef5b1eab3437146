"""The ports: what Pinakes asks of a place that holds archive files.

A file is written aside, under a name that no reader looks at, and published by a rename
that never replaces anything.  What is published is whole, on disk, and never changed.

Errors: `InputRefused` for a name that is not there, is there already, or is none;
`StoreUnavailable` where the place is not reachable or full.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple, Protocol


class StoredFile(NamedTuple):
    """A published file: name, size in bytes."""

    name: str
    size: int


class ArchiveReader(Protocol):
    """Files that can be read at any offset, by name: local, HDFS, HTTP."""

    def open(self, name: str) -> BinaryIO:
        """A seekable file; `Raises` InputRefused where there is none of that name."""
        ...

    def size(self, name: str) -> int | None:
        """The size in bytes; None where there is no such file."""
        ...


class AsideFile(Protocol):
    """A file that is being written and that no reader sees."""

    @property
    def file(self) -> BinaryIO:
        """What to write to."""
        ...

    def checksum(self) -> str:
        """Bring everything to disk; read back what is stored; its SHA-256 in hex."""
        ...

    def publish(self, name: str) -> None:
        """Give it its name; `Raises` InputRefused where that name is taken."""
        ...


class ArchiveStore(ArchiveReader, Protocol):
    """A place of our own: adds writing, listing and deleting."""

    def create_aside(self, token: str) -> AbstractContextManager[AsideFile]:
        """A file to write, gone at the end of the `with` unless it was published.

        `token` names it: whoever creates one of the same token takes the place of a
        writer that died.
        """
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Give a published file another name; never replaces anything."""
        ...

    def checksum(self, name: str) -> str:
        """The SHA-256 of a published file, read from where it is stored, in hex."""
        ...

    def delete(self, name: str) -> None:
        """Remove a published file; none of that name is no error."""
        ...

    def list(self, prefix: str = "") -> Iterator[StoredFile]:
        """The published files below a folder, in order of their names."""
        ...

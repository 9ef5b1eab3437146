"""The ports: what Pinakes asks of a place that holds archive files.

A file is written aside, under a name that no reader looks at, and published by a rename
that never replaces anything.  What is published is whole, on disk, and never changed.

Names are relative paths (`names.check_file_name`), `/` between their parts.

Errors: `InputRefused` for a name that is not there, is there already, or is none, and for
a file that changes while it is read; `StoreUnavailable` where the place is not reachable
or full.  Errors of whoever writes or reads in between pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple, Protocol

from pinakes.errors import StoreUnavailable

ASIDE = ".landing"
"""The folder of what is not published: `list` gives it when asked, `delete` clears it."""


class WritingLost(StoreUnavailable):
    """What was being written aside is lost, to a server that went: write it anew.

    `anew.write_anew` does, for `patience_s` seconds from the first loss.
    """

    patience_s = 0.0


class StoredFile(NamedTuple):
    """A published file: name, size in bytes."""

    name: str
    size: int


class ArchiveReader(Protocol):
    """Files that can be read at any offset, by name: local, HDFS, HTTP."""

    def open(self, name: str) -> BinaryIO:
        """A seekable file (`read`, `readinto`, `seek`, `tell`, `close`), as `warc.source`
        reads it; not for several threads.

        Raises InputRefused where there is none of that name.
        """
        ...

    def size(self, name: str) -> int | None:
        """The size in bytes; None where there is no such file."""
        ...


class AsideFile(Protocol):
    """A file that is being written and that no reader sees."""

    @property
    def file(self) -> BinaryIO:
        """What to write to; a write takes all it is given, or raises StoreUnavailable.

        WritingLost, which is one, where the store is there, and only this file's writing ended.
        """
        ...

    def checksum(self) -> str:
        """Bring everything to disk; the SHA-256 of what is stored, in hex.

        Read back, or vouched for by checksums that the store keeps and that were compared.
        """
        ...

    def crc32(self) -> int:
        """Bring everything to disk; the CRC-32 of what is stored, by the same rule.

        To compare a copy with what was written: as good against accident, at a fraction of
        the cost.  No identity.
        """
        ...

    def open(self) -> BinaryIO:
        """What was written, to be read as `ArchiveReader.open` gives a file.

        After `checksum` or `crc32` only; nothing is written any more.
        """
        ...

    def publish(self, name: str) -> None:
        """Give it its name, all at once, on disk when this returns.

        Raises InputRefused where that name is taken.  Done once; then nothing is written.
        """
        ...


class ArchiveStore(ArchiveReader, Protocol):
    """A place of our own: adds writing, listing and deleting."""

    def create_aside(self, token: str) -> AbstractContextManager[AsideFile]:
        """A file to write, gone at the end of the `with` unless it was published.

        `token` names it: whoever creates one of the same token takes the place of a
        writer that died.  What a writer left that nobody replaces is `ASIDE/token`.
        """
        ...

    def folder_aside(self, token: str) -> str:
        """A path or URL below which processes of other hosts may write files aside, too.

        As `create_aside` has it of one file, but that nothing is made here, and that only
        `delete` clears it.  `profile.open_folder` opens it as a store of its own.
        """
        ...

    def publish_from(self, token: str, inner: str, name: str) -> None:
        """Give the file at `inner`, a path below `folder_aside(token)`, its name; as `rename`.

        It must be on disk, as files are that another archive store has published there.
        """
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Give a published file another name; never replaces anything.

        A rename that was broken off is completed by doing it again.
        """
        ...

    def checksum(self, name: str) -> str:
        """The SHA-256 of a published file, read from where it is stored, in hex."""
        ...

    def delete(self, name: str) -> None:
        """Remove a published file, or `ASIDE/token`, file or folder; none is no error."""
        ...

    def list(self, prefix: str = "") -> Iterator[StoredFile]:
        """The published files below a folder, in order of their names, lazily.

        `ASIDE` for a prefix gives what is written aside, and what dead writers left: a
        folder of files as one.
        """
        ...

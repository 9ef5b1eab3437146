"""The ports: what Pinakes needs from a place that holds archive files.

A file is written aside, under a name that no reader sees, and published by a rename that
never replaces a file.  A published file is whole, on disk, and never changed.

Names are relative paths (`names.check_stored_name`), `/` between their parts.

Errors: `InputRefused` for a name that is not found, exists already or is invalid, and for
a file that changes while it is read; `StoreUnavailable` when the place cannot be reached or
is full.  Errors of the caller's own reading or writing pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple, Protocol

from pinakes.errors import InputRefused, StoreUnavailable

ASIDE = ".landing"
"""The folder of unpublished files: `list` shows it on request, `delete` removes from it, `rename`
takes files and folders from it and into it."""
QUARANTINE = ".quarantine"
"""The folder of what repairs have replaced: its names are as those of published files, but only
`list` of this prefix shows them."""


class WritingLost(StoreUnavailable):
    """A server was lost, and with it the file that was being written: write it again.

    `anew.write_anew` does so, until `retry_s` seconds have passed since the first loss.
    """

    retry_s = 0.0


class NotThere(InputRefused):
    """There is no file at this place, by its server's answer."""


class PublishedFile(NamedTuple):
    """A published file: name, size in bytes."""

    name: str
    size: int


class ArchiveReader(Protocol):
    """Files that can be read at any offset, by name: local, HDFS, HTTP."""

    def open(self, name: str) -> BinaryIO:
        """A seekable file (`read`, `readinto`, `seek`, `tell`, `close`), as `warc.source`
        reads it; not for several threads.

        Raises InputRefused if there is no file of that name.
        """
        ...

    def size(self, name: str) -> int | None:
        """The size in bytes; None if the file does not exist."""
        ...


class AsideFile(Protocol):
    """A file that is being written and that no reader sees."""

    @property
    def file(self) -> BinaryIO:
        """The file to write to; `write` writes all bytes or raises StoreUnavailable.

        Raises its subclass WritingLost if the store works and only this file was lost.
        """
        ...

    def checksum(self) -> str:
        """Sync the file; return the SHA-256 of what is stored, in hex.

        The file is read back, or checksums kept by the store were compared.
        """
        ...

    def crc32(self) -> int:
        """Sync the file; return the CRC-32 of what is stored, by the same rule.

        For comparing a copy with what was written: as good against accidents as SHA-256, at a
        fraction of the cost.  It does not identify a file.
        """
        ...

    def open(self) -> BinaryIO:
        """Open what was written for reading, as `ArchiveReader.open` does.

        Only after `checksum` or `crc32`; nothing may be written afterwards.
        """
        ...

    def publish(self, name: str) -> None:
        """Give the file its name, atomically; on disk when this returns.

        Raises InputRefused if the name is taken.  Call once; nothing may be written afterwards.
        """
        ...


class ArchiveStore(ArchiveReader, Protocol):
    """A reader that can also write, list and delete."""

    def create_aside(self, token: str) -> AbstractContextManager[AsideFile]:
        """A file to write, removed at the end of the `with` unless it was published.

        `token` names it: creating a file with the same token replaces what a writer that died
        has left.  A leftover that is not replaced is `ASIDE/token`.
        """
        ...

    def folder_aside(self, token: str) -> str:
        """A path or URL below which processes on other hosts may write files aside.

        Like `create_aside`, but nothing is created here, and only `delete` removes it.
        `profile.open_folder` opens it as a store of its own.
        """
        ...

    def publish_from(self, token: str, inner: str, name: str) -> None:
        """Publish the file at `inner`, a path below `folder_aside(token)`; like `rename`.

        It must be on disk, as files are that an archive store has published there.
        """
        ...

    def rename(self, name: str, new_name: str) -> None:
        """Give a published file another name; never replaces a file.

        An interrupted rename is completed by repeating it.  `ASIDE/token` and what is in the
        quarantine may be folders.
        """
        ...

    def checksum(self, name: str) -> str:
        """The SHA-256 of a published file, read from where it is stored, in hex."""
        ...

    def delete(self, name: str) -> None:
        """Remove a published file, or the file or folder `ASIDE/token`; may be missing.

        Also a folder below `QUARANTINE`, with what is in it.
        """
        ...

    def list(self, prefix: str = "") -> Iterator[PublishedFile]:
        """Yield the published files below a folder, sorted by name, lazily.

        The prefix `ASIDE` yields unpublished files and leftovers of dead writers; a folder of
        files counts as one.  The prefix `ASIDE/token` yields the files of such a folder.
        """
        ...

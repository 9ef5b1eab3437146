"""A new archive file made of an old one, outside the rows of a store: checked, then published.

    written aside ─▶ read back, checked ─▶ published; left, if an equal file is there

Verbs put it into a folder of a user (`archive_store.whole_files.OutputFolder`), a task of a job
into what its driver publishes (`mr_jobs.writing_job.TaskOutput`).  What stands is never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from pinakes.errors import InputRefused
from pinakes.warc.source import SeekableFile, Source

from .file_parts import Bytes

WRITTEN, UNCHANGED, WOULD_WRITE = "written", "unchanged", "would write"
Check = Callable[[Source], None]
"""Of what was written, read back; raises where it is not what it should be."""


class NewFile(Protocol):
    """A file that is being written, and has no name yet."""

    @property
    def file(self) -> BinaryIO:
        """The file to write to."""
        ...

    def open(self) -> BinaryIO:
        """Open what was written for reading; nothing may be written afterwards."""
        ...

    def publish(self) -> None:
        """Give it its name, when it is on disk.  `Raises` InputRefused if that is taken."""
        ...


class NewFiles(Protocol):
    """Where new files go."""

    def named(self, name: str) -> str:
        """The file of this name, as messages to people name it."""
        ...

    def has(self, name: str) -> bool:
        """Whether anything has this name."""
        ...

    def open(self, name: str) -> AbstractContextManager[SeekableFile]:
        """Open what has this name; `Raises` InputRefused where that is no file."""
        ...

    def create_aside(self, name: str) -> AbstractContextManager[NewFile]:
        """A file to write; it is removed at the end unless it was published.

        Raises:
            Conflict: another process is writing it.
            StoreUnavailable: the disk is full, or the store fails.
        """
        ...


def publish_checked(
    files: NewFiles,
    name: str,
    source: Source,
    write: Callable[[BinaryIO], object],
    check: Check,
) -> str:
    """Write a new file, which is made of `source`, and publish it when it is found right.

    `WRITTEN`; or `UNCHANGED` where a file of just these bytes has the name, which stays.

    Raises:
        InputRefused: another file has the name, or `source` changed while it was read.
        Conflict, StoreUnavailable: as `NewFiles.create_aside`; and what `check` raises.
    Then nothing is published.
    """
    with files.create_aside(name) as aside:
        write(aside.file)
        with aside.open() as file:
            written = Source(file, name=files.named(name))
            check(written)
            source.check_unchanged()
            if files.has(name):
                _require_equal(files, name, written)
                return UNCHANGED
        aside.publish()
    return WRITTEN


def write_checked(
    files: NewFiles,
    name: str,
    source: Source,
    pieces: Iterable[Bytes],
    check: Check,
    *,
    dry_run: bool = False,
) -> str:
    """`publish_checked` of pieces that are the same each time.

    Where the name is taken, they are compared as they come, nothing is written, and `check` is
    given the equal file.  With `dry_run` the pieces are drawn, and nothing is checked.
    """
    if files.has(name):
        with files.open(name) as file:
            there = Source(file, name=files.named(name))
            if not _holds(there, pieces):
                raise InputRefused(
                    "exists already with other content: move it, or give another folder",
                    file=there.name,
                )
            check(there)
        source.check_unchanged()
        return UNCHANGED
    if dry_run:
        for _ in pieces:
            pass
        source.check_unchanged()
        return WOULD_WRITE

    def write(out: BinaryIO) -> None:
        out.writelines(pieces)

    return publish_checked(files, name, source, write, check)


def _require_equal(files: NewFiles, name: str, written: Source) -> None:
    with files.open(name) as file:
        there = Source(file, name=written.name)
        if not _holds(there, written.pieces(0, written.size)):
            raise InputRefused("exists already and is not replaced", file=there.name)


def _holds(file: Source, pieces: Iterable[Bytes]) -> bool:
    """Whether a file has exactly these bytes."""
    at = 0
    for piece in pieces:
        if file.view(at, len(piece)) != piece:
            return False
        at += len(piece)
    return at == file.size

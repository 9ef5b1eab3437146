"""Archive files as users name them: paths and URLs, folders and packages, one that is piped in."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from pinakes.archive_store.located import is_folder_at, is_package_at, open_place, size_at
from pinakes.errors import ConfigError, InputRefused, PinakesError
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.warc.file_names import base_name
from pinakes.warc.source import Source

from .events import Others

AnyPath = str | os.PathLike[str]
Paths = AnyPath | Iterable[AnyPath]
OnEvent = Callable[[PinakesError | Others], None]
"""Gets what cannot be read, and how many files of folders are not read."""
PIPED = "-"
"""The argument that stands for standard input, and the name of an archive file that is there."""


def names_of(paths: Paths) -> list[str]:
    """One path, or several, as text."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in given]


def total_size(names: Iterable[str]) -> int:
    """The bytes of files at paths or URLs, as far as they are known."""
    return sum(size_at(name) or 0 for name in names)


def iter_paths(
    name: str, on_event: OnEvent, left: LeftOut | None = None
) -> Iterator[tuple[str, str]]:
    """A file, or the archive files in a folder or package; each also by its name below it.

    `left` gets what is skipped, which is also reported.
    """
    if not (is_folder_at(name) or is_package_at(name)):
        yield name, base_name(name)
        return
    left = LeftOut() if left is None else left
    try:
        yield from iter_inputs([name], left)
    except InputRefused as refusal:
        on_event(refusal)
    report_left_out(left, on_event)


def report_left_out(left: LeftOut, on_event: OnEvent) -> None:
    """Tell of all that was skipped; what should not be is an error."""
    for refused in left.refused:
        on_event(refused)
    for place in left.unfinished:
        on_event(InputRefused("not finished: skipped", file=place))
    if left.others:
        on_event(Others(left))


def problems_into(problems: list[PinakesError]) -> OnEvent:
    """A `OnEvent` that keeps errors, and nothing else."""

    def keep(event: PinakesError | Others) -> None:
        if isinstance(event, PinakesError):
            problems.append(event)

    return keep


def archive_files_of(paths: Paths, on_event: OnEvent) -> list[str]:
    """The files, by the names that verbs give them: revisits depend on these.

    Raises:
        ConfigError: there is no file at all.
    """
    names = [place for name in names_of(paths) for place, _ in iter_paths(name, on_event)]
    if not names:
        raise ConfigError("no archive files found")
    return names


class GivenFiles(NamedTuple):
    """Every archive file, and the packages that some are in."""

    names: list[str]
    packages: list[str]


def find_files(
    names: Iterable[str], on_event: OnEvent, *, members_are_read: bool = False
) -> GivenFiles:
    """The files of these names; a folder or package with none in it is reported, too.

    `members_are_read`: all members of a package are read, so none of them is skipped.
    """
    given = GivenFiles([], [])
    for name in list(names):  # all, before a folder is walked: a later one may be no path
        left = LeftOut(members_are_read=members_are_read)
        found = [path for path, _ in iter_paths(name, on_event, left)]
        given.packages.extend(left.packages)
        if not found:
            on_event(InputRefused("no archive files in it", file=name))
        given.names.extend(found)
    return given


class ArchiveInputs:
    """Inputs that are only read, and how each is opened; a context manager.

    What is piped in is kept in a temporary file, in `folder`, or the system's.
    """

    def __init__(self, folder: Path | None = None, names: Iterable[str] = ()) -> None:
        self.names = names
        self._folder = folder
        self._piped: IO[bytes] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> ArchiveInputs:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def is_piped(self) -> bool:
        """Whether one came by standard input; known once the names were drawn."""
        return self._piped is not None

    @contextmanager
    def opened(self, name: str) -> Iterator[Source]:
        """One of the inputs, or of the files in it; `Raises` as `located.open_place`."""
        if name == PIPED and self._piped is not None:
            yield Source(self._piped, name=name)
            return
        with open_place(name) as source:
            yield source

    def keep(self, first: bytes, rest: BinaryIO) -> None:
        """Take what is piped in; called while the names are drawn."""
        if self._piped is not None:
            raise ConfigError("standard input is given twice")
        self._piped = self._stack.enter_context(
            tempfile.TemporaryFile(prefix="pinakes-", dir=self._folder)  # noqa: SIM115 (entered)
        )
        self._piped.write(first)
        shutil.copyfileobj(rest, self._piped, 1 << 20)
        self._piped.flush()


def refuse_clashes(by_target: Mapping[str, Collection[str]]) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    clashes = [" and ".join(names) for names in by_target.values() if len(names) > 1]
    if clashes:
        raise ConfigError(
            f"two inputs would have the same output name, nothing was written: {'; '.join(clashes)}"
        )

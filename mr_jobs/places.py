"""Finds archive files by the names given to jobs, and says which generation of each is read: a file
of lines, the two names with a tab between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.profile import open_archive, open_folder

STORE = ""
"""The place of files in the store."""

_MOST_OPEN = 64
"""In HDFS each has its own client, with threads."""


def split_name(name: str, *, stored: bool) -> tuple[str, str] | None:
    """The place of a file, None for a path, and its name there."""
    if stored:
        return STORE, name
    if "://" not in name:
        return None
    place, _, base = name.rpartition("/")
    return place, base


def open_place(place: str, configuration: Configuration) -> AbstractContextManager[ArchiveStore]:
    """The files of a place."""
    return open_folder(place, configuration) if place else open_archive(configuration)


class OpenPlaces:
    """The places that a task uses, opened on demand; a context manager."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._open: dict[str, tuple[ArchiveStore, ExitStack]] = {}

    def __enter__(self) -> OpenPlaces:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1][1].close()

    def store(self, place: str) -> ArchiveStore:
        """The files of a place; it, and files opened in it, may be used to the end."""
        entry = self._open.pop(place, None)
        if entry is None:
            stack = ExitStack()
            entry = stack.enter_context(open_place(place, self._configuration)), stack
        self._open[place] = entry  # the latest
        if len(self._open) > _MOST_OPEN:
            # A closed store only disconnects: used again, it connects again.
            self._open.pop(next(iter(self._open)))[1].close()
        return entry[0]


def write_generations(generations: Mapping[str, str], folder: Path) -> Path:
    """Write the file; archive files not in it are read as they landed."""
    path = folder / "generations"
    lines = (f"{name}\t{stored}\n" for name, stored in generations.items())
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    return path


def read_generations(path: str | None) -> dict[str, str]:
    """Undo `write_generations`."""
    if path is None:
        return {}
    text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    # No name of a stored file has a control character.
    pairs = (line.partition("\t") for line in text.split("\n") if line)
    return {name: stored for name, _, stored in pairs}

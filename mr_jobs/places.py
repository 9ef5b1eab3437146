"""Where an archive file lies that a job is told of by its name."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack

from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.profile import open_archive, open_folder

STORE = ""
"""The place of files in the store."""

_MOST_OPEN = 64
"""In HDFS each has a client of its own, with threads."""


def split_name(name: str, *, stored: bool) -> tuple[str, str] | None:
    """The place of a file, and its name there; None for one that is a path."""
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
    """The places that a task has to do with, opened when they are asked for; a context manager."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._open: dict[str, tuple[ArchiveStore, ExitStack]] = {}

    def __enter__(self) -> OpenPlaces:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1][1].close()

    def store(self, place: str) -> ArchiveStore:
        """The files of a place; of it, and of what is open in it, use may be made to the end."""
        entry = self._open.pop(place, None)
        if entry is None:
            stack = ExitStack()
            entry = stack.enter_context(open_place(place, self._configuration)), stack
        self._open[place] = entry  # the latest
        if len(self._open) > _MOST_OPEN:
            # A store that is closed only lets go: where it is used again, it connects anew.
            self._open.pop(next(iter(self._open)))[1].close()
        return entry[0]

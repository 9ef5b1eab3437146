"""Where an archive file lies that a job is told of by its name."""

from __future__ import annotations

from contextlib import AbstractContextManager

from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.profile import open_archive, open_folder

STORE = ""
"""The place of files in the store."""


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

"""Where archive files are that a manifest or an index names otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.archive_store.located import is_folder_at, is_listed, is_package_at, local_path
from pinakes.archive_store.port import NotThere
from pinakes.dedupe.archive_files import ArchiveFiles, read_locations
from pinakes.errors import ConfigError, InputRefused
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.warc.file_names import base_name, is_remote, without_compression

_SUFFIX = ".warc"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlaces:
    """A folder, as a path or URL, and a table of names, and paths or URLs."""

    folder: str | None = None
    table: Path | None = None


def locations_of(places: FilePlaces) -> dict[str, str]:
    """The table that was given.

    Raises:
        InputRefused: it cannot be read.
        MalformedRecord: for a line that is not a pair.
    """
    if places.table is None:
        return {}
    try:
        return read_locations(places.table)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=str(places.table)) from error


def open_files(places: FilePlaces, *, superseded: bool = False) -> ArchiveFiles:
    """The archive files that are found there."""
    locations = locations_of(places)
    return ArchiveFiles(folder=places.folder, locations=locations, superseded=superseded)


def find_originals(places: FilePlaces, known: Iterable[str]) -> Iterator[str]:
    """The files of the folder, and of the table, each once and none that is `known`.

    Raises:
        ConfigError: the folder is none that can be listed.
        InputRefused: it may not be listed.
        StoreUnavailable: its server does not answer.
    """
    seen = set(map(_identity, known))
    for place in [*_warc_files(places.folder), *locations_of(places).values()]:
        if _identity(place) not in seen:
            seen.add(_identity(place))
            yield place


def _warc_files(folder: str | None) -> Iterator[str]:
    """Of a folder or package; a package that cannot be read, itself: opening it says why."""
    if folder is None:
        return
    folder = _with_slash(folder)
    if not (is_folder_at(folder) or is_package_at(folder)):
        if is_remote(folder):
            raise ConfigError(
                f"--dir {folder}: a server does not list its files: name them with --cdx or "
                "--locations"
            )
        raise ConfigError(f"--dir {folder} is not a folder")
    left = LeftOut()
    try:
        found = [item.place for item in iter_inputs([folder], left)]
    except NotThere as error:
        raise ConfigError(f"--dir {folder}: there are no files below it") from error
    yield from sorted(place for place in found if _is_warc(base_name(place)))
    yield from (refused.file for refused in left.refused if refused.file)


def _is_warc(name: str) -> bool:
    return without_compression(name).endswith(_SUFFIX)


def _with_slash(folder: str) -> str:
    """A prefix in S3 is a folder here whether or not it ends with `/`."""
    if not is_listed(folder) or is_folder_at(folder) or is_package_at(folder):
        return folder
    path, mark, query = folder.partition("?")
    return f"{path}/{mark}{query}"


def _identity(place: str) -> str:
    return place if is_remote(place) else os.path.realpath(local_path(place))

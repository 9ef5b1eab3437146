"""Options that say where archive files are that a manifest or an index names otherwise."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.archive_store.located import (
    check_folder,
    is_listed,
    list_folder,
    local_path,
    place_below,
)
from pinakes.archive_store.port import NotThere
from pinakes.dedupe.archive_files import ArchiveFiles, read_locations
from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.file_names import is_remote

_SUFFIXES = (".warc", ".warc.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlaces:
    """A folder, as a path or URL, and a table of names, and paths or URLs."""

    folder: str | None
    table: Path | None


def add_places(parser: argparse.ArgumentParser) -> None:
    """Where files are that a manifest names otherwise."""
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="also look for the manifest's files in this folder, or below this URL",
    )
    add_locations(parser, "table of file names, and paths or URLs, one pair per line")


def add_locations(parser: argparse.ArgumentParser, words: str) -> None:
    """The table alone."""
    parser.add_argument("--locations", metavar="FILE", help=words)


def places_of(arguments: argparse.Namespace) -> FilePlaces:
    """What was added; `Raises` ConfigError for a URL that cannot be asked for."""
    return FilePlaces(
        folder=check_folder(arguments.dir) if arguments.dir else None,
        table=Path(arguments.locations) if arguments.locations else None,
    )


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
    if folder is None:
        return
    if is_listed(folder):
        yield from _listed_files(folder)
        return
    if is_remote(folder):
        raise ConfigError(
            f"--dir {folder}: a server does not list its files: name them with --cdx or --locations"
        )
    path = local_path(folder)
    if not path.is_dir():
        raise ConfigError(f"--dir {folder} is not a folder")
    yield from sorted(str(found) for found in path.rglob("*") if found.name.endswith(_SUFFIXES))


def _listed_files(folder: str) -> Iterator[str]:
    try:
        found = list(list_folder(folder))
    except NotThere as error:
        raise ConfigError(f"--dir {folder}: there are no files below it") from error
    yield from (place_below(folder, file.name) for file in found if file.name.endswith(_SUFFIXES))


def _identity(place: str) -> str:
    return place if is_remote(place) else os.path.realpath(local_path(place))

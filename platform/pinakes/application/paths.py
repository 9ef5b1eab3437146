"""Paths as Python users give them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pinakes.archive_store.located import is_folder_at, is_package_at
from pinakes.errors import ConfigError, InputRefused, PinakesError
from pinakes.ingest.inputs import LeftOut, iter_inputs

AnyPath = str | os.PathLike[str]
Paths = AnyPath | Iterable[AnyPath]


def names_of(paths: Paths) -> list[str]:
    """One path, or several, as text."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in given]


def archive_files_of(paths: Paths, problems: list[PinakesError]) -> list[str]:
    """The files, by the names that verbs give them: revisits depend on these.

    `problems` gets what is in folders and packages, and cannot be read.  Raises ConfigError where
    there is no file at all.
    """
    left = LeftOut()
    names: list[str] = []
    for path in names_of(paths):
        if not (is_package_at(path) or is_folder_at(path)):
            names.append(path)
            continue
        try:
            names.extend(found.place for found in iter_inputs([path], left))
        except InputRefused as refusal:
            problems.append(refusal)
    problems += left.refused
    problems += (InputRefused("not finished: skipped", file=place) for place in left.unfinished)
    if not names:
        raise ConfigError("no archive files found")
    return names

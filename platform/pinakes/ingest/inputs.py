"""Which files an ingest is to land, and under what names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pinakes.errors import InputRefused

SUFFIXES = (".warc", ".arc", ".wat", ".wet")
COMPRESSIONS = (".gz", ".bz2", ".lz4", ".zst", ".xz")
UNFINISHED = (".open", ".part", ".invalid", ".tmp")


class Input(NamedTuple):
    """A file to land, and its path within the crawl."""

    path: Path
    name: str


def is_archive_name(name: str) -> bool:
    """Whether a name in a folder is that of an archive file."""
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.endswith(SUFFIXES)


def is_unfinished_name(name: str) -> bool:
    """Whether a writer still has the file: it is listed and left."""
    return name.endswith(UNFINISHED)


def iter_inputs(paths: Iterable[str], left: list[Path]) -> Iterator[Input]:
    """The files of these paths: a file by its base name, a folder's by their relative paths.

    Files in a folder that a writer still has are put into `left`; others that are no
    archive files are passed over, a folder being allowed to hold a crawl's logs.
    """
    for given in paths:
        path = Path(given)
        if not path.is_dir():
            yield Input(path, path.name)
            continue
        for folder, folders, names in os.walk(path, onerror=_refuse):
            folders.sort()
            for name in sorted(names):
                inside = Path(folder, name)
                if is_unfinished_name(name):
                    left.append(inside)
                elif is_archive_name(name):
                    yield Input(inside, inside.relative_to(path).as_posix())


def _refuse(error: OSError) -> None:
    raise InputRefused(f"cannot be read: {error.strerror}", file=str(error.filename)) from error

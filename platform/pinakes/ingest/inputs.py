"""Which files an ingest is to land, and under what names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pinakes.errors import InputRefused

SUFFIXES = (".warc", ".arc", ".wat", ".wet")
COMPRESSIONS = (".gz", ".bz2", ".lz4", ".zst", ".xz")
UNFINISHED = (".open", ".part", ".invalid", ".tmp")


_EXAMPLES = 3


@dataclass(slots=True)
class LeftOut:
    """What lies in folders and does not land."""

    unfinished: list[Path] = field(default_factory=list)
    """Files that a writer still has."""
    others: int = 0
    """Files that are no archive files by their names, and links to folders."""
    examples: list[Path] = field(default_factory=list)
    """The first of these."""

    def add_other(self, path: Path) -> None:
        self.others += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(path)


class Input(NamedTuple):
    """A file to land, and its path within the crawl."""

    path: Path
    name: str


def is_archive_name(name: str) -> bool:
    """Whether a name in a folder is that of an archive file."""
    name = name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.endswith(SUFFIXES)


def is_unfinished_name(name: str) -> bool:
    """Whether a writer still has the file: it is listed and left."""
    return name.lower().endswith(UNFINISHED)


def iter_inputs(paths: Iterable[str], left: LeftOut) -> Iterator[Input]:
    """The files of these paths: a file by its base name, a folder's by their relative paths.

    Files in a folder that a writer still has, and what is no archive file by its name, such as
    a crawl's logs, are put into `left`; so are links to folders, which are not followed.
    """
    for given in paths:
        path = Path(given)
        if not path.is_dir():
            yield Input(path, path.name)
            continue
        for folder, folders, names in os.walk(path, onerror=_refuse):
            folders.sort()
            for name in folders:
                if Path(folder, name).is_symlink():
                    left.add_other(Path(folder, name))
            for name in sorted(names):
                inside = Path(folder, name)
                if is_unfinished_name(name):
                    left.unfinished.append(inside)
                elif is_archive_name(name):
                    yield Input(inside, inside.relative_to(path).as_posix())
                else:
                    left.add_other(inside)


def _refuse(error: OSError) -> None:
    raise InputRefused(f"cannot be read: {error.strerror}", file=str(error.filename)) from error

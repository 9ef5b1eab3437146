"""The files that an ingest lands, and their names."""

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
    """Files in folders that are skipped."""

    unfinished: list[Path] = field(default_factory=list)
    """Number of files that are still being written."""
    others: int = 0
    """Number of files that are not archive files by name, and of links to folders."""
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
    """Whether a file name is that of an archive file."""
    name = name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.endswith(SUFFIXES)


def is_unfinished_name(name: str) -> bool:
    """Whether the name is that of a file still being written, which is skipped."""
    return name.lower().endswith(UNFINISHED)


def iter_inputs(paths: Iterable[str], left: LeftOut) -> Iterator[Input]:
    """Yield the files of these paths: files by base name, those of folders by relative path.

    Files in folders that are still being written, files that are not archive files by name (such
    as logs), and links to folders, which are not followed, are recorded in `left`.
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

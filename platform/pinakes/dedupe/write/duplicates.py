"""The duplicates that a manifest names, by archive file.

Kept as text, and taken apart when their file is rewritten: a line as text takes a
fifth of the memory, and most lines of a manifest are of no duplicate.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.index.manifest import ManifestLine, parse_line, place_of

from .proven_originals import Place

_COPY_NUMBER = 7
_FIRST_COPY = 2


class Duplicates:
    """Lines with a copy number above 1, by the name of their file, in order of offset."""

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.files: set[str] = set()
        self._texts: dict[str, list[tuple[int, int, int, str]]] = defaultdict(list)
        self._names: dict[str, list[str]] = defaultdict(list)

    @classmethod
    def read(cls, manifest: Path, files: ArchiveFiles) -> Duplicates:
        """Read a manifest; `files` says which file each of its names means.

        Raises:
            MalformedRecord: for what is no manifest line.
        """
        result = cls()
        names: dict[str, str] = {}
        with manifest.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for number, text in enumerate(lines, 1):
                columns = text.split(None, _COPY_NUMBER + 1)
                name = names.get(columns[0]) if columns else None
                if name is None:
                    if text.isspace():
                        continue
                    # The first line of each file is read in full.
                    name = names[columns[0]] = parse_line(text, number=number).file
                if len(columns) > _COPY_NUMBER and columns[_COPY_NUMBER].isdecimal():
                    result._add(name, columns, text, number)
        result.files.update(names.values())
        for name in result.files:
            result._texts[name].sort(key=lambda entry: entry[:3])
            path = files.path_of(name)
            if path is not None:
                result._names[os.path.realpath(path)].append(name)
        return result

    def _add(self, name: str, columns: list[str], text: str, number: int) -> None:
        if int(columns[_COPY_NUMBER]) < _FIRST_COPY:
            return
        if " inner=" in text or not columns[1].isdecimal():
            _, offset, inner = place_of(parse_line(text, number=number))
        else:
            offset, inner = int(columns[1]), 0
        self.places.add((name, offset, inner))
        self._texts[name].append((offset, inner, number, text))

    def names_of(self, place: str) -> list[str]:
        """The names that the manifest has for the file at this place: none, one, seldom more."""
        if place in self.files:
            return [place]
        return self._names.get(os.path.realpath(place), [])

    def lines_of(self, place: str) -> Iterator[ManifestLine]:
        """The duplicates in this file, in order of offset."""
        for name in self.names_of(place)[:1]:
            for _, _, number, text in self._texts[name]:
                yield parse_line(text, number=number)

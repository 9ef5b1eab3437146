"""The duplicates that a manifest names, by archive file.

Kept as text and read again when their file is rewritten: a line as text takes a
fifth of the memory of a line taken apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pinakes.errors import InputRefused
from pinakes.index.manifest import ManifestLine, parse_line

from .archive_files import ArchiveFiles
from .refs import Place


class Duplicates:
    """Lines with a copy number above 1, by the name of their file, in order of offset."""

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.files: set[str] = set()
        self._texts: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        self._names: dict[Path, list[str]] = defaultdict(list)

    @classmethod
    def read(cls, manifest: Path, files: ArchiveFiles) -> Duplicates:
        """Read a manifest; `files` says which file each of its names means.

        Raises:
            MalformedRecord: for what is no manifest line.
        """
        result = cls()
        with manifest.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for number, text in enumerate(lines, 1):
                line = parse_line(text, number=number)
                result.files.add(line.file)
                if line.copy_number is not None and line.copy_number > 1:
                    place = (line.file, line.offset, line.inner_offset)
                    result.places.add(place)
                    result._texts[line.file].append((*place[1:], text))
        for name in result.files:
            result._texts[name].sort(key=lambda entry: entry[:2])
            try:
                result._names[files.path_of(name).resolve()].append(name)
            except InputRefused:
                continue
        return result

    def names_of(self, path: Path) -> list[str]:
        """The names under which the manifest knows this file: none, one, seldom more."""
        if str(path) in self.files:
            return [str(path)]
        return self._names.get(path.resolve(), [])

    def lines_of(self, path: Path) -> Iterator[ManifestLine]:
        """The duplicates in this file, in order of offset."""
        for name in self.names_of(path)[:1]:
            for _, _, text in self._texts[name]:
                yield parse_line(text)

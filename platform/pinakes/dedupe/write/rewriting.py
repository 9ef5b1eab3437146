"""Rewriting whole archive files with replacements: proven on raw bytes, then published; and the
duplicates that a manifest names, by archive file.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from pinakes.archive_store.local.files import sha256_of
from pinakes.archive_store.local.whole_files import OutputFolder
from pinakes.archive_store.located import file_on_disk, local_path, output_name
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.index.manifest import ManifestLine, parse_line, place_of
from pinakes.rewrite.new_file import NewFiles, publish_checked
from pinakes.rewrite.replace import (
    Replacement,
    copy_file_with_replacements,
    copy_source_with_replacements,
)
from pinakes.warc.file_names import is_remote
from pinakes.warc.source import Source

from .proofs import require_given_back, require_revisits
from .proven_originals import Place
from .refs import RefsCount

Replacements = Callable[[Source], Iterator[Replacement]]
Check = Callable[[Source, Source], None]
"""Of the old file and the new; raises DigestMismatch."""

_COPY_NUMBER = 7
_FIRST_COPY = 2


def refuse_equal_names(places: Iterable[str]) -> None:
    """Raise ConfigError where two inputs would be written under one name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for place in places:
        by_name[output_name(place)].append(place)
    clashes = [names for names in by_name.values() if len(names) > 1]
    if clashes:
        listed = "; ".join(" and ".join(names) for names in clashes)
        raise ConfigError(f"inputs of one name, nothing was written: {listed}")


def run_name_of(manifest: Path) -> str:
    """A name for the run that is the same whenever the manifest is."""
    return f"refs-{sha256_of(manifest)[:12]}"


def rewrite_to(
    place: str, target: Path, replacements: Replacements, *, check: Check = require_given_back
) -> None:
    """Rewrite the file at `place`, a path or URL, as `target`; the old file is not touched.

    Where `target` is there already with just these bytes, it stays: an earlier run was
    stopped after it.

    Raises:
        DigestMismatch: by `check`.
        InputRefused: where the file changed while it was read, or `target` is another file.
        Conflict, StoreUnavailable: as `new_file.publish_checked`.
    Then nothing is published.
    """
    if target.exists() and not is_remote(place) and _is_same_file(target, local_path(place)):
        raise InputRefused("this is the input itself: write to another folder", file=str(target))
    with file_on_disk(place) as old:
        source = Source(old, name=place)

        def write(out: BinaryIO) -> None:
            # The kernel copies what stays.
            copy_file_with_replacements(
                cast("BinaryIO", old), out, source.size, replacements(source)
            )

        publish_checked(
            OutputFolder(target.parent), target.name, source, write, partial(check, source)
        )


def rewrite_source(
    source: Source, files: NewFiles, replacements: Replacements, *, check: Check
) -> None:
    """The same of a file that is open, by its base name, wherever new files go."""

    def write(out: BinaryIO) -> None:
        copy_source_with_replacements(source, out, replacements(source))

    publish_checked(files, PurePosixPath(source.name).name, source, write, partial(check, source))


def rewrite_or_copy(
    rewrite: Callable[..., None],
    replacements: Replacements,
    count: RefsCount,
    *,
    proven: Check = lambda before, after: None,
) -> None:
    """Rewrite a file with revisits; where their proof fails, leave it as it is.

    `rewrite` is `rewrite_to` or `rewrite_source` but for the replacements.  Then `count`,
    which `replacements` filled, says so.  `proven` is called once the revisits are proven.
    """

    def check(before: Source, after: Source) -> None:
        require_revisits(before, after, count.take_bodies())
        proven(before, after)

    try:
        rewrite(replacements, check=check)
    except DigestMismatch as problem:
        count.keep_full(problem)
        rewrite(lambda source: iter(()), check=require_given_back)


def _is_same_file(target: Path, path: Path) -> bool:
    try:
        return target.samefile(path)
    except NotADirectoryError:  # in a package
        return False


class Duplicates:
    """Lines with a copy number above 1, by the name of their file, in order of offset.

    Kept as text, and taken apart when their file is rewritten: a line as text takes a fifth of the
    memory, and most lines of a manifest are of no duplicate.
    """

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

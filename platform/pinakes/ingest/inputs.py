"""The files that an ingest lands, and their names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.located import (
    is_folder_at,
    is_package_at,
    list_folder,
    local_path,
    package_at,
    place_below,
)
from pinakes.errors import InputRefused
from pinakes.warc.file_names import (
    base_name,
    is_archive_name,
    is_package_name,
    is_remote,
    is_unfinished_name,
)
from pinakes.warc.packages.datapackage import DATAPACKAGE

_EXAMPLES = 3


@dataclass(slots=True)
class LeftOut:
    """Files in folders that are skipped; and the packages that were opened."""

    unfinished: list[str] = field(default_factory=list)
    """Those that are still being written."""
    others: int = 0
    """Number of files that are not archive files by name, and of links to folders."""
    examples: list[str] = field(default_factory=list)
    """The first of these."""
    refused: list[InputRefused] = field(default_factory=list)
    """Folders and packages that cannot be read, and archive files that a package says it has, and
    has not."""

    members_are_read: bool = False
    """Whether all members of these packages are read: none of them is skipped then."""
    packages: list[str] = field(default_factory=list)
    """Those that were taken for folders."""

    def add_other(self, place: str) -> None:
        self.others += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(place)

    def add_unreadable(self, error: OSError) -> None:
        """Note a folder that cannot be listed; the others are."""
        why = f"cannot be read: {error.strerror}"
        self.refused.append(InputRefused(why, file=str(error.filename)))


class Input(NamedTuple):
    """The path or URL of a file to land, and its path within the crawl."""

    place: str
    name: str


def iter_inputs(
    places: Iterable[str], left: LeftOut, *, documents: bool = False
) -> Iterator[Input]:
    """Yield the files at these paths or URLs: by base name, those of folders by relative path.

    A package is taken for a folder: its archive files are `crawl.wacz/archive/data.warc.gz`.
    `documents`: and its other members as one archive file more (see `packages`).

    Files in folders that are still being written, files that are not archive files by name (such
    as logs), and links to folders, which are not followed, are recorded in `left`.
    """
    for item in iter_files(places, left):
        yield from unpacked(item, left, documents=documents)


def iter_files(places: Iterable[str], left: LeftOut) -> Iterator[Input]:
    """The same, with packages as they are: each is a file."""
    for place in places:
        path = local_path(place)
        if not is_folder_at(place):
            yield Input(place if is_remote(place) else str(path), base_name(place))
            continue
        if is_remote(place):
            for name in (file.name for file in list_folder(place)):
                yield from sorted_out(Input(place_below(place, name), name), left)
            continue
        for folder, folders, names in os.walk(path, onerror=left.add_unreadable):
            folders.sort()
            for name in folders:
                inside_folder = os.path.join(folder, name)
                if os.path.islink(inside_folder):
                    left.add_other(inside_folder)
            for name in sorted(names):
                inside = Path(folder, name)
                item = Input(str(inside), inside.relative_to(path).as_posix())
                yield from sorted_out(item, left)


def sorted_out(item: Input, left: LeftOut) -> Iterator[Input]:
    """A file of a folder, by its name: to land, or left out."""
    if is_unfinished_name(item.name):
        left.unfinished.append(item.place)
    elif is_archive_name(item.name) or is_package_name(item.name):
        yield item
    else:
        left.add_other(item.place)


def unpacked(item: Input, left: LeftOut, *, documents: bool = False) -> Iterator[Input]:
    """The same, or what `iter_inputs` yields of a package."""
    place, name = item
    if not is_package_at(place):
        yield item
        return
    try:
        with package_at(place) as package:
            left.packages.append(place)
            for member in package.archives(documents=documents, on_refused=left.refused.append):
                yield Input(f"{place}/{member}", f"{name}/{member}")
            if not documents:
                # Readers of records need no pages; readers of all members name what is not read.
                of_format = left.members_are_read
                for other in package.others(on_refused=lambda _: None, of_format=of_format):
                    if left.members_are_read and other in package.members:
                        continue
                    left.add_other(f"{name}/{other}")
            for member in package.lacks():
                why = f"its {DATAPACKAGE} names {member}, which is not in it"
                left.refused.append(InputRefused(why, file=place))
    except InputRefused as refusal:
        left.refused.append(refusal)

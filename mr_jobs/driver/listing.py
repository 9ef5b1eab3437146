"""The inputs of a job: names, packed by size, as lists where its tasks find them.

And how many tasks its reduce steps have.

Gigabytes a map and not a file.  A list is an input file of its own, so that each is one map's,
however the framework would split longer ones.  Tasks reduce by what is read: bodies and
what is known of originals travel with lines, so that 64 MB of lines, some 150,000 captures, may
bring gigabytes to a reducer.  Hadoop's own default is one task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from pinakes.archive_store.anew import publish_copy
from pinakes.config import Configuration
from pinakes.errors import InputRefused
from pinakes.mr_jobs.driver.submission import job_folder
from pinakes.mr_jobs.places import open_place, split_name
from pinakes.profile import open_folder

PACK_BYTES = 4 << 30
_PACK_FILES = 10_000

LISTS = "lists"
LINE_BYTES = 64 << 20
_MOST = 10_000


def pack_files(
    sizes: Iterable[tuple[str, int]], *, pack_bytes: int = PACK_BYTES
) -> Iterator[list[str]]:
    """Names with their sizes in bytes, in packs of about so many; order stays."""
    pack: list[str] = []
    room = pack_bytes
    for name, size in sizes:
        if pack and (size > room or len(pack) == _PACK_FILES):
            yield pack
            pack, room = [], pack_bytes
        pack.append(name)
        room -= size
    if pack:
        yield pack


def packed(
    lines: Sequence[str],
    configuration: Configuration,
    *,
    files_of_line: Callable[[str], Iterable[str]],
    stored: bool,
    pack_bytes: int,
) -> Iterator[list[str]]:
    """The lines in packs of about so many bytes of the archive files that they are about.

    Raises:
        InputRefused: for a name that cannot stand in a line.
    """
    for line in lines:
        if "\n" in line:
            raise InputRefused("a name with a line end in it cannot be listed", file=line)
    sizes = _sizes(map(files_of_line, lines), configuration, stored=stored)
    return pack_files(zip(lines, sizes, strict=True), pack_bytes=pack_bytes)


def write_lists(packs: Iterable[list[str]], folder: Path) -> list[str]:
    """A file of names for each pack, on this host: the paths."""
    paths = []
    for number, pack in enumerate(packs):
        path = folder / f"{number:06d}"
        path.write_bytes(_list_text(pack))
        paths.append(str(path))
    return paths


@contextmanager
def lists_in_hdfs(
    packs: Iterable[list[str]], configuration: Configuration, *, keep: bool = False
) -> Iterator[list[str]]:
    """A file of names for each pack, in the job folder; deleted at the end, unless kept."""
    place = f"{job_folder(configuration)}/{LISTS}/{uuid4().hex}"
    with open_folder(place, configuration) as lists:
        written = []
        try:
            for number, text in enumerate(map(_list_text, packs)):
                name = f"{number:06d}"
                at = f"{place}/{name}"
                publish_copy(lists, BytesIO(text), name, token=uuid4().hex, place=at)
                written.append(name)
            yield [f"{place}/{name}" for name in written]
        finally:
            for name in () if keep else written:
                lists.delete(name)


def _list_text(pack: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in pack).encode("utf-8", "surrogateescape")


def _sizes(
    files: Iterable[Iterable[str]], configuration: Configuration, *, stored: bool
) -> Iterator[int]:
    """The size of each input in bytes; 0 for what is not there: its map will say so."""
    with ExitStack() as stack:
        known: dict[str, Mapping[str, int]] = {}

        def size(name: str) -> int:
            where = split_name(name, stored=stored)
            if where is None:
                return os.path.getsize(name) if os.path.isfile(name) else 0
            place, base = where
            if place not in known:
                opened = stack.enter_context(open_place(place, configuration))
                known[place] = {file.name: file.size for file in opened.list()}
            return known[place].get(base, 0)

        for names in files:
            yield sum(map(size, names))


def reduces_for(lines_bytes: int) -> int:
    """Tasks of a reduce step that gets so many bytes of lines."""
    return min(max(1, -(-lines_bytes // LINE_BYTES)), _MOST)


def lines_bytes(names: Sequence[str], configuration: Configuration) -> int:
    """The size of files of lines: paths, or `hdfs://…`, the last part with `*` in it or not."""
    return sum(_size(name, configuration) for name in names)


def _size(name: str, configuration: Configuration) -> int:
    where = split_name(name, stored=False)
    if where is None:
        return os.path.getsize(name) if os.path.isfile(name) else 0
    place, base = where
    with open_place(place, configuration) as folder:
        return sum(stored.size for stored in folder.list() if fnmatchcase(stored.name, base))

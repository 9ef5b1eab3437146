"""Archive files by the names that a manifest gives them, or that a store knows them by.

A name is looked for as a path, then under a folder, then in a table of locations; where none
of these is a file here, at those that are URLs, in the same order.
Few files are open at a time, each with a small window: callers that look a file up by name read
single records, all over the file.
"""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TypeVar

from pinakes.archive_store.located import local_path, open_place, place_below
from pinakes.archive_store.port import ArchiveReader, NotThere
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import encode_name
from pinakes.warc.file_names import base_name, is_remote
from pinakes.warc.opening import is_file
from pinakes.warc.source import Source

SUPERSEDED = "superseded"
_OPEN_FILES = 64
_WINDOW_BYTES = 1 << 14


Files = TypeVar("Files", bound="ArchiveFiles")


class ArchiveFiles:
    """Opens archive files by name; use as a context manager."""

    def __init__(
        self,
        *,
        folder: str | None = None,
        locations: Mapping[str, str] | None = None,
        superseded: bool = False,
    ) -> None:
        """`folder` and what `locations` gives are paths or URLs.

        `superseded`: prefer the file of that name in the folder `superseded` next to it.
        So a rewriting in place that was stopped finds the offsets it began with.
        """
        self._superseded = superseded
        self._folder = folder
        self._locations = locations or {}
        self._open: OrderedDict[str, tuple[Source, ExitStack]] = OrderedDict()
        # Of names that servers do not have: else each of their records would be asked for.
        self._missing: set[str] = set()
        self._scratch: IO[bytes] | None = None

    def __enter__(self: Files) -> Files:  # noqa: PYI019  (Self is of 3.11)
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.popitem()[1][1].close()
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    @property
    def scratch(self) -> IO[bytes]:
        """A temporary file for what is taken out of these files; closed with them."""
        if self._scratch is None:
            self._scratch = tempfile.TemporaryFile(prefix="pinakes-")  # noqa: SIM115
        return self._scratch

    def path_of(self, name: str) -> Path | None:
        """Where the file of that name is on disk; None where it is not."""
        for place in self._places(name):
            if is_remote(place):
                continue
            path = local_path(place)
            old = path.parent / SUPERSEDED / path.name
            if self._superseded and os.path.isfile(old):
                return old
            if is_file(path):
                return path
        return None

    @contextmanager
    def opened(self, name: str) -> Iterator[Source]:
        """The file of that name, for a caller that reads it from end to end.

        Raises:
            InputRefused: where it is nowhere, naming the places looked at.
            StoreUnavailable: where a server does not answer.
        """
        with ExitStack() as stack:
            yield self._open_first(name, stack)

    def source(self, name: str) -> Source:
        """The open file of that name; valid until some sixty others were asked for."""
        entry = self._open.get(name)
        if entry is None:
            stack = ExitStack()
            source = self._enter(name, stack)
            entry = self._open[name] = (source, stack)
            if len(self._open) > _OPEN_FILES:
                self._open.popitem(last=False)[1][1].close()
        else:
            self._open.move_to_end(name)
        return entry[0]

    def _enter(self, name: str, stack: ExitStack) -> Source:
        """Open a file that `stack` closes."""
        return self._open_first(name, stack, _WINDOW_BYTES)

    def _open_first(self, name: str, stack: ExitStack, window_bytes: int | None = None) -> Source:
        path = self.path_of(name)
        if path is not None:
            return stack.enter_context(open_place(str(path), window_bytes=window_bytes))
        places = self._places(name)
        if name not in self._missing:
            for place in filter(is_remote, places):
                try:
                    return stack.enter_context(open_place(place, window_bytes=window_bytes))
                except NotThere:
                    continue
            self._missing.add(name)
        raise InputRefused(
            f"not found as {' or '.join(places)}: say where with --dir or --locations", file=name
        )

    def _places(self, name: str) -> list[str]:
        """Where it may be, in the order in which it is looked for; each once."""
        places = [name]
        if self._folder is not None:
            if not is_remote(name):
                places.append(place_below(self._folder, name.lstrip("/")))
            places.append(place_below(self._folder, base_name(name)))
        located = self._locations.get(name) or self._locations.get(encode_name(name))
        if located is not None:
            places.append(located)
        return list(dict.fromkeys(places))


def read_locations(path: Path) -> dict[str, str]:
    """Read a table of locations: a name, white space, a path or URL on each line.

    A name with white space is written as a manifest does.

    Raises:
        MalformedRecord: for a line that is not that.
    """
    result = {}
    with path.open(encoding="utf-8", errors="surrogateescape") as lines:
        for number, line in enumerate(lines, 1):
            parts = line.split(maxsplit=1)
            if len(parts) != 2:
                raise MalformedRecord(f"line {number} is not a name and a path", file=str(path))
            result[parts[0]] = parts[1].rstrip("\n")
    return result


class StoredFiles(ArchiveFiles):
    """`ArchiveFiles` over an archive store; `names` gives each identity its stored file, by which a
    `Source` is named: what is said of it is said of what was read."""

    def __init__(self, archive: ArchiveReader, names: Mapping[str, str]) -> None:
        super().__init__()
        self._archive = archive
        self._names = dict(names)

    def add(self, stored: str) -> None:
        """Let a stored file be asked for by its own name, too, unless that is an identity."""
        self._names.setdefault(stored, stored)

    def close(self, name: str) -> None:
        """Let go of a file, so that its space is given back when it is deleted."""
        entry = self._open.pop(name, None)
        if entry is not None:
            entry[1].close()

    def _enter(self, name: str, stack: ExitStack) -> Source:
        if name not in self._names:
            raise InputRefused("is no file of this collection", file=name)
        stored = self._names[name]
        file = stack.enter_context(self._archive.open(stored))
        return Source(file, name=stored, window_bytes=_WINDOW_BYTES)

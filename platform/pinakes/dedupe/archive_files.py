"""Archive files by the names that a manifest gives them.

A name is looked for as a path, then under a folder, then in a table of locations.
Few files are open at a time, each with a small window: whoever comes by a name reads
single records, all over the file.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.warc.source import Source, open_source

SUPERSEDED = "superseded"
_OPEN_FILES = 64
_WINDOW_BYTES = 1 << 14


class ArchiveFiles:
    """Opens archive files by name; use as a context manager."""

    def __init__(
        self,
        *,
        folder: Path | None = None,
        locations: Mapping[str, str] | None = None,
        superseded: bool = False,
    ) -> None:
        """`superseded`: prefer the file of that name in the folder `superseded` beside it.

        So a rewriting in place that was stopped finds the offsets it began with.
        """
        self._superseded = superseded
        self._folder = folder
        self._locations = locations or {}
        self._open: OrderedDict[str, tuple[Source, ExitStack]] = OrderedDict()
        self._scratch: IO[bytes] | None = None

    def __enter__(self) -> ArchiveFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    def path_of(self, name: str) -> Path:
        """Where the file of that name is.

        Raises:
            InputRefused: where it is nowhere, naming the places looked at.
        """
        places = [Path(name)]
        if self._folder is not None:
            places += [self._folder / name.lstrip("/"), self._folder / Path(name).name]
        if name in self._locations:
            places.append(Path(self._locations[name]))
        for place in places:
            old = place.parent / SUPERSEDED / place.name
            if self._superseded and old.is_file():
                return old
            if place.is_file():
                return place
        raise InputRefused(
            f"not found as {' or '.join(map(str, places))}: say where with --dir or --locations",
            file=name,
        )

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
        return stack.enter_context(open_source(self.path_of(name), window_bytes=_WINDOW_BYTES))


def read_locations(path: Path) -> dict[str, str]:
    """Read a table of locations: a name, white space, a path on each line.

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

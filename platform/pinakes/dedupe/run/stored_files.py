"""The archive files of a store, by their identity, each in its current generation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from pinakes.archive_store.port import ArchiveReader
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused
from pinakes.warc.source import Source

_WINDOW_BYTES = 1 << 14


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

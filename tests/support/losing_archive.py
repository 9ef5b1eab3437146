"""An archive store that loses what is first written under each token, as when a data node dies."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from pinakes.archive_store.local.store import LocalArchiveStore, LocalAsideFile
from pinakes.archive_store.port import WritingLost


class LosingArchive(LocalArchiveStore):
    """Loses it at the first write, or when all of it is written and is to be brought to disk."""

    def __init__(self, folder: Path, *, at_end: bool, retry_s: float = 600.0) -> None:
        super().__init__(folder)
        self.lost: list[str] = []
        self._at_end = at_end
        self._retry_s = retry_s

    @contextmanager
    def create_aside(self, token: str) -> Iterator[LocalAsideFile]:
        with super().create_aside(token) as aside:
            if token in self.lost:
                yield aside
            else:
                yield cast("LocalAsideFile", _Losing(self, aside, token))

    def loss(self, token: str, *, at_end: bool) -> None:
        if at_end == self._at_end:
            self.lost.append(token)
            error = WritingLost("a data node went", file=token)
            error.retry_s = self._retry_s
            raise error


class _Losing:
    def __init__(self, archive: LosingArchive, aside: LocalAsideFile, token: str) -> None:
        self._archive = archive
        self._aside = aside
        self._token = token
        self.file = _LosingIO(archive, aside.file, token)
        self.open = aside.open

    def checksum(self) -> str:
        self._archive.loss(self._token, at_end=True)
        return self._aside.checksum()

    def crc32(self) -> int:
        self._archive.loss(self._token, at_end=True)
        return self._aside.crc32()

    def publish(self, name: str) -> None:
        self._archive.loss(self._token, at_end=True)
        self._aside.publish(name)


class _LosingIO(io.RawIOBase):
    def __init__(self, archive: LosingArchive, file: BinaryIO, token: str) -> None:
        super().__init__()
        self._archive = archive
        self._file = file
        self._token = token

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: Any, /) -> int:
        self._archive.loss(self._token, at_end=False)
        return self._file.write(data)

"""An archive store over another that fails at its n-th call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeVar

from pinakes.archive_store.port import ArchiveStore, AsideFile, StoredFile
from pinakes.errors import StoreUnavailable

T = TypeVar("T")


class FailingArchiveStore:
    """Raises StoreUnavailable at call `fail_at` (from 1), and at that call only.

    With `applied` the call is done all the same.  Calls on what is aside count too, but for
    the writes.
    """

    def __init__(self, store: ArchiveStore, fail_at: int, *, applied: bool = False) -> None:
        self.store = store
        self.fail_at = fail_at
        self.applied = applied
        self.calls = 0

    def call(self, call: Callable[[], T]) -> T:
        self.calls += 1
        if self.calls != self.fail_at:
            return call()
        if self.applied:
            call()
        raise StoreUnavailable(f"call {self.calls} fails, as was asked for")

    def open(self, name: str) -> BinaryIO:
        return self.call(lambda: self.store.open(name))

    def size(self, name: str) -> int | None:
        return self.call(lambda: self.store.size(name))

    @contextmanager
    def create_aside(self, token: str) -> Iterator[AsideFile]:
        self.call(lambda: None)
        with self.store.create_aside(token) as aside:
            yield FailingAsideFile(self, aside)

    def folder_aside(self, token: str) -> str:
        return self.store.folder_aside(token)

    def publish_from(self, token: str, inner: str, name: str) -> None:
        self.call(lambda: self.store.publish_from(token, inner, name))

    def rename(self, name: str, new_name: str) -> None:
        self.call(lambda: self.store.rename(name, new_name))

    def checksum(self, name: str) -> str:
        return self.call(lambda: self.store.checksum(name))

    def delete(self, name: str) -> None:
        self.call(lambda: self.store.delete(name))

    def list(self, prefix: str = "") -> Iterator[StoredFile]:
        return self.call(lambda: self.store.list(prefix))


class FailingAsideFile:
    def __init__(self, store: FailingArchiveStore, aside: AsideFile) -> None:
        self._store = store
        self._aside = aside

    @property
    def file(self) -> BinaryIO:
        return self._aside.file

    def checksum(self) -> str:
        return self._store.call(self._aside.checksum)

    def crc32(self) -> int:
        return self._store.call(self._aside.crc32)

    def open(self) -> BinaryIO:
        return self._store.call(self._aside.open)

    def publish(self, name: str) -> None:
        self._store.call(lambda: self._aside.publish(name))

"""A store over another that fails at its n-th call, before or after doing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pinakes.archive_store.port import ArchiveStore
from pinakes.errors import StoreUnavailable
from pinakes.row_store.port import RowStore

T = TypeVar("T")


class FailingStore:
    """Raises StoreUnavailable at call `fail_at` (from 1), and at that call only.

    With `applied` the call is done all the same, as when an answer is lost on its way.
    """

    uncounted = frozenset({"schema", "close", "folder_aside"})

    def __init__(self, store: object, fail_at: int, *, applied: bool = False) -> None:
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

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if name in self.uncounted:
            return found
        return lambda *given, **named: self.call(lambda: found(*given, **named))


class FailingArchive(FailingStore):
    """Calls on what is aside count too, but for the writes."""

    @contextmanager
    def create_aside(self, token: str) -> Iterator[_Aside]:
        self.call(lambda: None)
        with self.store.create_aside(token) as aside:  # type: ignore[attr-defined]
            yield _Aside(self, aside)


class _Aside(FailingStore):
    uncounted = frozenset({"file"})

    def __init__(self, whole: FailingStore, aside: object) -> None:
        super().__init__(aside, 0)
        self.call = whole.call  # type: ignore[method-assign]


def failing_rows(store: RowStore, fail_at: int, *, applied: bool = False) -> Any:
    """A row store, with `calls`."""
    return FailingStore(store, fail_at, applied=applied)


def failing_archive(store: ArchiveStore, fail_at: int, *, applied: bool = False) -> Any:
    """An archive store, with `calls`."""
    return FailingArchive(store, fail_at, applied=applied)

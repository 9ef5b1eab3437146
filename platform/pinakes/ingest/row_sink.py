"""Where the capture and digest rows of a landing go.

    Lander ─▶ RowSink ─┬▶ StoredRows   into the row store, as they come
                       └▶ others       into files, to be loaded into it in bulk

A landing asks for a sink of its own once it has its claim, puts its rows in the order of
the file, and calls `finish` when there are no more.  One that is left without, or by an
exception, was refused or broken off: what a sink has kept of it is of no use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from pinakes.catalog.file_rows import Held
from pinakes.row_store.port import Put, RowStore


class RowSink(Protocol):
    """Takes the rows of one landing.  From one thread."""

    @property
    def batch_rows(self) -> int:
        """How many captures to give at a time."""
        ...

    def put(self, table: str, puts: list[Put]) -> None:
        """Take puts of `captures` or `digests`; the list is the sink's from now on.

        Raises StoreUnavailable, for these or for earlier ones.
        """
        ...

    def finish(self) -> bool:
        """Bring all that was put to disk; say whether it is in the row store.

        True: it is.  False: it is to be loaded later, and the landing can be published but
        not finished before that (`Lander.publish`).
        """
        ...


RowSinks = Callable[[Held], AbstractContextManager[RowSink]]
"""A sink for the landing that has this claim."""


class StoredRows:
    """Rows that go into the row store at once."""

    batch_rows = 10_000

    def __init__(self, store: RowStore) -> None:
        self._store = store

    def put(self, table: str, puts: list[Put]) -> None:
        self._store.mutate(table, puts)

    def finish(self) -> bool:
        return True


def stored_rows(store: RowStore) -> RowSinks:
    """The plain way: `mutate`, one batch after the other."""

    @contextmanager
    def sink(_: Held) -> Iterator[StoredRows]:
        yield StoredRows(store)

    return sink

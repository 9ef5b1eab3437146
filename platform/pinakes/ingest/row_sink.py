"""Where the capture and digest rows of a landing are written.

    Lander ─▶ RowSink ─┬▶ StoredRows   into the row store at once
                       └▶ others       into files, for bulk loading

A landing gets a sink once it has its claim, puts its rows in the order of the file, and calls
`finish` after the last.  A sink closed without `finish`, or by an exception, belongs to a landing
that was refused or interrupted: what it has stored is useless.
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
        """Take puts of `captures` or `digests`; the caller must not change the list afterwards.

        Raises StoreUnavailable, for these or for earlier ones.
        """
        ...

    def finish(self) -> bool:
        """Bring all puts to disk; return whether they are in the row store.

        False: they must be loaded later, and until then the landing can be published but not
        finished (`Lander.publish`).
        """
        ...


RowSinks = Callable[[Held], AbstractContextManager[RowSink]]
"""A sink for the landing that has this claim."""


class DirectRows:
    """Puts rows into the row store at once."""

    batch_rows = 10_000

    def __init__(self, store: RowStore) -> None:
        self._store = store

    def put(self, table: str, puts: list[Put]) -> None:
        self._store.mutate(table, puts)

    def finish(self) -> bool:
        return True


def stored_rows(store: RowStore) -> RowSinks:
    """The default sinks: `mutate`, one batch after the other."""

    @contextmanager
    def sink(_: Held) -> Iterator[DirectRows]:
        yield DirectRows(store)

    return sink

"""Background work while the parser runs: puts and writes over a network.

    parser ─▶ Behind (a queue of bounded weight) ─▶ threads ─▶ row store, archive store

`give` blocks while the queue is full, and raises errors of earlier work; `drain` returns when all
work is done.  For stores in other processes, during whose waits the parser can run.  The embedded
stores would compete with it for the processor.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, BinaryIO, Generic, TypeVar

from pinakes.catalog.file_rows import Held
from pinakes.row_store.port import Put, RowStore

from .copying import Writer
from .row_sink import RowSinks

T = TypeVar("T")

WAITING_BYTES = 16 << 20
"""Of one file, queued for the archive store."""

WAITING_CAPTURES = 7_500
"""Queued for the row store, one or two kB each; another batch is being filled."""

PUTTING_THREADS = 2
_TIMEOUT_S = 10.0


class BackgroundWork(Generic[T]):
    """Runs work in its own threads; with one thread, in the order given."""

    def __init__(self, work: Callable[[T], object], *, room: int, threads: int = 1) -> None:
        """`room` is the maximum weight of queued and running work."""
        self._work = work
        self._room = room
        self._waiting: deque[tuple[T, int]] = deque()
        self._load = 0
        self._undone = 0
        self._error: BaseException | None = None
        self._ended = False
        self._changed = threading.Condition()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def give(self, item: T, weight: int) -> None:
        """Queue an item, when there is room; raises what earlier work raised."""
        with self._changed:
            while self._error is None and self._load and self._load + weight > self._room:
                self._changed.wait()
            self._raise()
            self._load += weight
            self._undone += 1
            self._waiting.append((item, weight))
            self._changed.notify_all()

    def drain(self) -> None:
        """Return when all queued work is done; raises what the work raised."""
        with self._changed:
            while self._error is None and self._undone:
                self._changed.wait()
            self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._ended:
                    self._changed.wait()
                if self._ended:
                    return
                item, weight = self._waiting.popleft()
            try:
                self._work(item)
            except BaseException as error:  # noqa: BLE001  raised where work is given
                with self._changed:
                    self._error = self._error or error
                    self._ended = True
                    self._changed.notify_all()
                return
            with self._changed:
                self._load -= weight
                self._undone -= 1
                self._changed.notify_all()

    def __enter__(self) -> BackgroundWork[T]:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the threads; queued work is dropped.

        After a signal, a hanging store is not waited for: its thread ends with the process.
        """
        with self._changed:
            self._ended = True
            self._waiting.clear()
            self._changed.notify_all()
        stopped = error is not None and not isinstance(error, Exception)
        for thread in self._threads:
            thread.join(_TIMEOUT_S if stopped else None)


class OverlappedRows:
    """A sink that puts in the background; in any order, because no two puts share a cell."""

    batch_rows = 2_500

    def __init__(self, behind: BackgroundWork[tuple[str, list[Put]]]) -> None:
        self._behind = behind

    def put(self, table: str, puts: list[Put]) -> None:
        # A capture has one put in `captures` and two or four in `digests`.
        self._behind.give((table, puts), self.batch_rows if table == "captures" else 0)

    def finish(self) -> bool:
        self._behind.drain()
        return True


def overlapped_rows(store: RowStore) -> RowSinks:
    """Put rows into the row store while the next are made."""

    @contextmanager
    def sink(_: Held) -> Iterator[OverlappedRows]:
        with BackgroundWork[tuple[str, list[Put]]](
            lambda batch: store.mutate(*batch), room=WAITING_CAPTURES, threads=PUTTING_THREADS
        ) as behind:
            yield OverlappedRows(behind)

    return sink


class _OverlappedFile:
    def __init__(self, behind: BackgroundWork[Any]) -> None:
        self._behind = behind

    def write(self, data: Any, /) -> int:
        self._behind.give(data, len(data))
        return len(data)

    def flush(self) -> None:
        self._behind.drain()


@contextmanager
def overlapped_file(file: BinaryIO) -> Iterator[Writer]:
    """Write to the file while more is read; data given must not be changed afterwards."""
    with BackgroundWork[Any](file.write, room=WAITING_BYTES) as behind:
        yield _OverlappedFile(behind)

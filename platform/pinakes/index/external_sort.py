"""Sorting and keeping more items than fit into memory.

Items are collected up to a limit, sorted, and written to a temporary file (a run); at the
end the runs are merged.  If all items fit into memory, nothing is written.  Temporary files
have no name, so they disappear with the process, however it ends.
"""

from __future__ import annotations

import heapq
import pickle
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

T = TypeVar("T")
_BLOCK_ITEMS = 256
_FAN_IN = 64
_WORD_BYTES = 96
"""The memory that a field takes besides its characters: pointer and object header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SortSpace:
    """How much memory one sort may take, and the folder for what exceeds it."""

    memory_bytes: int = 64 << 20
    folder: Path | None = None


DEFAULT_SPACE = SortSpace()


def _itself(item: Any) -> Any:
    return item


def estimate_bytes(item: Any) -> int:
    """The approximate memory of an item: text by its length, tuples by their fields."""
    if isinstance(item, (str, bytes)):
        return _WORD_BYTES + len(item)
    if isinstance(item, tuple):
        return _WORD_BYTES + sum(map(estimate_bytes, item))
    return 32


def sort_outside_memory(
    items: Iterable[T],
    *,
    key: Callable[[T], Any] = _itself,
    space: SortSpace = DEFAULT_SPACE,
    item_bytes: Callable[[T], int] = estimate_bytes,
) -> Generator[T, None, None]:
    """Yield the items in the order of `key`, or their own order; the sort is stable.

    Consumes `items` before the first is yielded.  Memory: `space.memory_bytes`, as estimated
    by `item_bytes` for every item, plus `64 × 256` items while merging.  Closing the
    generator, or dropping it, deletes the temporary files.
    """
    in_memory_key: Any = None if key is _itself else key
    room = space.memory_bytes
    batch: list[T] = []
    runs = _Runs(key, space.folder)
    try:
        for item in items:
            batch.append(item)
            room -= item_bytes(item)
            if room < 0:
                batch.sort(key=in_memory_key)
                runs.add(batch)
                batch = []
                room = space.memory_bytes
        batch.sort(key=in_memory_key)
        if runs:
            yield from runs.merged(batch)
        else:
            # Each item is released when it is yielded: its result takes its place in memory.
            batch.reverse()
            while batch:
                yield batch.pop()
    finally:
        runs.close()


class _Runs(Generic[T]):
    """Sorted runs in temporary files, oldest first; never more than `_FAN_IN` a level.

    When a level is full, its runs are merged into one run of the next level.  So each item
    is written a logarithmic number of times, and few files are open.
    """

    def __init__(self, key: Callable[[T], Any], folder: Path | None) -> None:
        self._key = key
        self._folder = folder
        self._levels: list[list[SortedRun[T]]] = []

    def __bool__(self) -> bool:
        return bool(self._levels)

    def add(self, items: Iterable[T], level: int = 0) -> None:
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        run: SortedRun[T] = SortedRun(self._folder)
        runs.append(run)
        run.extend(items)
        if len(runs) == _FAN_IN:
            self.add(heapq.merge(*runs, key=self._key), level + 1)
            for done in runs:
                done.close()
            runs.clear()

    def merged(self, last: list[T]) -> Iterator[T]:
        """All items in order; `last` is the newest run, in memory."""
        oldest_first = [run for level in reversed(self._levels) for run in level]
        return heapq.merge(*oldest_first, last, key=self._key)

    def close(self) -> None:
        for level in self._levels:
            for run in level:
                run.close()


class SortedRun(Generic[T]):
    """Items in a temporary file, in the order given; may be read any number of times."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115 (closed by close)
            prefix="pinakes-", dir=folder
        )

    def extend(self, items: Iterable[T]) -> None:
        """Append items."""
        block: list[T] = []
        self._file.seek(0, 2)
        for item in items:
            block.append(item)
            if len(block) == _BLOCK_ITEMS:
                self._write(block)
                block = []
        if block:
            self._write(block)

    def _write(self, block: Sequence[T]) -> None:
        pickle.dump(block, self._file, protocol=pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[T]:
        offset = 0
        while True:
            self._file.seek(offset)
            try:
                # A file without a name, written here: nothing else can have written it.
                block: list[T] = pickle.load(self._file)  # noqa: S301
            except EOFError:
                return
            offset = self._file.tell()
            yield from block

    def close(self) -> None:
        self._file.close()


class Spool(Generic[T]):
    """Items kept in the order added, to be read again; beyond a limit in a file.

    Use it as a context manager, or drop it: the file has no name and is deleted with it.
    """

    def __init__(
        self,
        *,
        space: SortSpace = DEFAULT_SPACE,
        item_bytes: Callable[[T], int] = estimate_bytes,
    ) -> None:
        self._space = space
        self._item_bytes = item_bytes
        self._room = space.memory_bytes
        self._newest: list[T] = []
        self._run: SortedRun[T] | None = None

    def append(self, item: T) -> None:
        """Keep one more item."""
        self._newest.append(item)
        self._room -= self._item_bytes(item)
        if self._room < 0:
            if self._run is None:
                self._run = SortedRun(self._space.folder)
            self._run.extend(self._newest)
            self._newest = []
            self._room = self._space.memory_bytes

    def __iter__(self) -> Iterator[T]:
        if self._run is not None:
            yield from self._run
        yield from self._newest

    def __bool__(self) -> bool:
        return bool(self._newest) or self._run is not None

    def close(self) -> None:
        """Delete the temporary file."""
        if self._run is not None:
            self._run.close()
            self._run = None
        self._newest = []

    def __enter__(self) -> Spool[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Which archive files readers see, and in which generation: remembered for a moment.

A server asks this for every row that it gives out, mostly about the same few files.  What is
remembered is only that a file could be seen: a file that becomes visible is never missed, and one
that leaves, or moves to a new generation, is seen as it was for `FRESH_S` at most; its old
generation is still there then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pinakes.hbase_schema.file_cells import CurrentGeneration, FileFacts, FileStateCell
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of, encode_file_key
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Row, RowStore

from .file_rows import TABLE, hidden_among

FRESH_S = 1.0
_COLUMNS = (FileFacts.COLUMN, FileStateCell.COLUMN, CurrentGeneration.COLUMN)
_MOST = 100_000
_MOST_AGAIN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleFile:
    """An archive file whose records may be read."""

    archive_file: str
    generation: int
    collection: str
    crawl: str


class VisibleFiles:
    """The files that readers see.  Safe for several threads: they may ask twice."""

    def __init__(
        self,
        store: RowStore,
        *,
        fresh_s: float = FRESH_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._fresh_s = fresh_s
        self._clock = clock
        self._until_s = float("-inf")
        self._known: dict[str, VisibleFile] = {}

    def fresh(self) -> Mapping[str, VisibleFile]:
        """What is known now: another mapping once it may be out of date.

        Files that were asked for are asked again together, so that queries about many files do not
        wait for each of them once in `FRESH_S`.  None or two round trips.
        """
        now_s = self._clock()
        if now_s >= self._until_s or len(self._known) > _MOST:
            again = list(self._known) if len(self._known) <= _MOST_AGAIN else []
            self._known = self._ask(again) if again else {}
            self._until_s = now_s + self._fresh_s
        return self._known

    def among(self, archive_files: Collection[str]) -> dict[str, VisibleFile]:
        """Those of these files that are visible.  None or two round trips.

        Ask after reading their rows, never before: otherwise half the rows of a file that began
        to land in between would be shown.
        """
        self.fresh()
        known = self._known
        asked = [name for name in archive_files if name not in known]
        if asked:
            known.update(self._ask(asked))
        return {name: known[name] for name in archive_files if name in known}

    def _ask(self, archive_files: list[str]) -> dict[str, VisibleFile]:
        hidden = hidden_among(self._store, archive_files)
        keys = {encode_file_key(name): name for name in archive_files if name not in hidden}
        rows = self._store.get_rows(TABLE, list(keys), columns=_COLUMNS) if keys else {}
        found = ((name, rows.get(key)) for key, name in keys.items())
        return {
            name: visible
            for name, row in found
            if row is not None and (visible := _visible(name, row)) is not None
        }


def _visible(archive_file: str, row: Row) -> VisibleFile | None:
    facts, state = read_cell(FileFacts, TABLE, row), read_cell(FileStateCell, TABLE, row)
    if facts is None or state is None:
        return None
    if state.state != FileState.STORED.value:
        return None
    current = read_cell(CurrentGeneration, TABLE, row)
    if current is None:
        return None
    return VisibleFile(
        archive_file=archive_file,
        generation=current.generation,
        collection=facts.collection,
        crawl=crawl_of(archive_file),
    )

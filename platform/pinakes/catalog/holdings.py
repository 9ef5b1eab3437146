"""What is stored of a crawl now, from the rows of its files: the one place that counts it.

Sizes are those of archive files, without their sidecars: as files that landed, as they are on disk
now, and those of older generations, which stay until they are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.hbase_schema.file_cells import (
    CurrentGeneration,
    FileFacts,
    FileStateCell,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Row

from .file_rows import TABLE, generations_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """Stored files and what they hold.

    `records`, `captures` and `damaged` (stretches that are no record) are counted as they landed.
    `landed_bytes` are the sizes of these files as they landed, `stored_bytes` those of their
    current generations; `old_bytes` those of the `old_generations` before them that have not been
    dropped.
    """

    files: int = 0
    records: int = 0
    captures: int = 0
    damaged: int = 0
    landed_bytes: int = 0
    stored_bytes: int = 0
    old_generations: int = 0
    old_bytes: int = 0

    @property
    def saved_bytes(self) -> int:
        """By how much they are smaller than they landed; below 0: larger."""
        return self.landed_bytes - self.stored_bytes

    def __add__(self, other: Holdings) -> Holdings:
        return Holdings(
            files=self.files + other.files,
            records=self.records + other.records,
            captures=self.captures + other.captures,
            damaged=self.damaged + other.damaged,
            landed_bytes=self.landed_bytes + other.landed_bytes,
            stored_bytes=self.stored_bytes + other.stored_bytes,
            old_generations=self.old_generations + other.old_generations,
            old_bytes=self.old_bytes + other.old_bytes,
        )


NOTHING_HELD = Holdings()


def holdings_of_file(row: Row) -> Holdings:
    """Of a row of `files`; nothing of a file that has not landed, or was taken out."""
    facts = read_cell(FileFacts, TABLE, row)
    state = read_cell(FileStateCell, TABLE, row)
    if facts is None or state is None or state.state != FileState.STORED.value:
        return NOTHING_HELD
    current = read_cell(CurrentGeneration, TABLE, row)
    number = current.generation if current is not None else 1
    generations = generations_of(row)
    stored = generations.get(number)
    old = [one.size for n, one in generations.items() if n < number and not one.dropped]
    return Holdings(
        files=1,
        records=sum(facts.records.values()),
        captures=facts.captures,
        damaged=facts.damaged,
        landed_bytes=facts.size,
        stored_bytes=stored.size if stored is not None else facts.size,
        old_generations=len(old),
        old_bytes=sum(old),
    )

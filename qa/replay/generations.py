"""Which generation of an archive file a session answers from.

`current` is what readers of the store get.  `before` is the newest generation that dedupe did not
write: the current one, if the file was never deduplicated, or was restored.  If that generation
was dropped, the answer is a fault that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import CaptureRow, Placed, placed_by, require_visible
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.payloads import open_placed, open_record
from pinakes.errors import InputRefused
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.row_store.port import RowStore
from pinakes.warc.record import Record

Generation = Literal["current", "before"]
_WRITTEN_BY_DEDUPE = "dedupe"
_SAME_RECORDS = "zstd"
"""In another compression."""
_KEPT_FILES = 10_000


def generation_before(current: int, written: Mapping[int, GenerationFacts]) -> int:
    """The newest generation up to the current one that dedupe did not write; one in another
    compression counts as written by what wrote its records."""
    number = current
    while number > 1:
        source = number
        while source > 1 and source in written and written[source].why == _SAME_RECORDS:
            source -= 1
        if source == 1 or source not in written or written[source].why != _WRITTEN_BY_DEDUPE:
            break
        number = source - 1
    return number


class GenerationReader:
    """Opens records of one generation.  Safe for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveReader, generation: Generation) -> None:
        self._rows = rows
        self._archive = archive
        self._generation = generation
        remember = lru_cache(_KEPT_FILES)
        self.collection_of = remember(self._read_collection)
        # By file and its current generation, which changes when a new one is written.
        self._before = remember(self._read_before)

    def _read_collection(self, archive_file: str) -> str | None:
        """The collection that a file landed in; `collection_of` gives what was read first."""
        facts = read_entry(self._rows, archive_file).facts
        return facts.collection if facts is not None else None

    def place(self, capture: CaptureRow) -> Placed:
        """The place of a capture in that generation.

        Raises:
            InputRefused: it has none.
        """
        entry = read_entry(self._rows, capture.facts.archive_file)
        number = entry.generation
        if self._generation == "before":
            number = self._before(entry.archive_file, number)
        placed = placed_by(capture, replace(entry, generation=number))
        if placed is None:
            raise InputRefused(
                "no record of this capture", file=f"{entry.archive_file} generation {number}"
            )
        return placed

    def _read_before(self, archive_file: str, current: int) -> int:
        return generation_before(current, read_generations(self._rows, archive_file))

    @contextmanager
    def open(self, placed: Placed) -> Iterator[Record]:
        """The record at a place; read it within the `with`.

        Raises:
            InputRefused: the file is not in the store, or is being ingested or removed.
            MalformedRecord: no record at that place.
            DigestMismatch: it has other bytes than it had.
        """
        if self._generation == "current":
            with open_placed(self._rows, self._archive, placed) as record:
                yield record
            return
        require_visible(self._rows, placed.entry.archive_file)
        facts = placed.capture.facts
        with open_record(
            self._archive, placed.file, placed.location, landed=facts, rows=self._rows
        ) as record:
            yield record

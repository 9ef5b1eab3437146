"""fsck of the facts in the row of one file: what its records say of them, and each other.

What a landing counted is counted again.  Of a file that was rewritten since, that is only what its
records still show: errors, damaged stretches and compression were those of the bytes as landed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pinakes.catalog.file_counts import LANDED_VERB, counts_of_landing
from pinakes.catalog.file_rows import TABLE, FileEntry
from pinakes.hbase_schema.cells import Cell, encode_cell
from pinakes.hbase_schema.columns import named_column, numbered_column
from pinakes.hbase_schema.file_cells import ActCounts, FileErrors, FileFacts, GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.ingest.landed import Landed, errors_of
from pinakes.row_store.port import Row, RowStore, get_row

from .cell_writing import CellChange
from .compare import decoded, shown
from .findings import FsckFinding
from .mending import StoredFileMender
from .records import ReadRow

_SAME_RECORDS = frozenset({"landed", "dedupe", "restore", "zstd"})
"""Acts after which a file's records, but for what dedupe did, are of the types as landed."""


class LandedAgain:
    """Counts the records of a stored file as its landing did."""

    def __init__(self, archive_file: str) -> None:
        self.result = Landed(archive_file=archive_file)
        self.types: Counter[str] = Counter()
        """By type as landed; those of revisits of ours are those of what they stand for."""

    def note(self, batch: Sequence[ReadRow]) -> None:
        """Count records."""
        self.result.captures += len([read for read in batch if read.row.row_key is not None])
        self.types.update(read.row.type or "unknown" for read in batch)


_OF_PACKAGE = "package-digest"
"""An error of the package that a file came in: its own bytes do not show it."""


class FileFactsCheck:
    """Checks one file, of which all records are read."""

    def __init__(
        self,
        rows: RowStore,
        entry: FileEntry,
        facts: FileFacts,
        generations: Mapping[int, GenerationFacts],
        landed: LandedAgain,
        mender: StoredFileMender,
    ) -> None:
        """`landed` counts the records of the current generation."""
        self._entry = entry
        self._facts = facts
        self._generations = generations
        self._landed = landed
        self._mender = mender
        self._key = encode_file_key(entry.archive_file)
        self._row = get_row(rows, TABLE, self._key, columns=[b"f"]) or Row(self._key, {})

    def findings(self) -> Iterator[FsckFinding]:
        """Yield what is wrong; the latter is made of the former.

        What was lost, and accepted, is noted as it landed: the bytes do not show it any more.
        """
        if self._mender.is_accepted:
            return
        counts = self._counts()
        facts = replace(self._facts, **self._derived(counts))
        first = self._generations.get(1)
        if first is not None and (first.size, first.sha256) != (facts.size, facts.sha256):
            # The checksum of what is stored was compared with that of the generation.
            is_proven = self._entry.generation == 1
            if is_proven:
                facts = replace(facts, size=first.size, sha256=first.sha256)
            else:
                what = "its facts and those of its first generation are of other bytes"
                yield self._finding(what, None)
        if facts != self._facts:
            yield self._finding(_describe(self._facts, facts), {FileFacts.COLUMN: facts})
        elif sum(facts.records.values()) != sum(self._landed.types.values()):
            yield self._finding("the file has another number of records than when it landed", None)
        if first is None:
            yield self._finding(
                "nothing says what its first generation was",
                {numbered_column(GenerationFacts, 1): self._first_generation(facts)},
            )
        wanted = counts_of_landing(facts)
        if counts is None or counts.counts != wanted:
            cell = ActCounts(verb=LANDED_VERB, counts=wanted)
            column = named_column(ActCounts, facts.act)
            yield self._finding("its landing is not counted as it was", {column: cell})
        yield from self._check_errors()

    def _derived(self, counts: ActCounts | None) -> dict[str, Any]:
        """The facts that its records show."""
        result = self._landed.result
        known: dict[str, Any] = {"captures": result.captures, "format": result.format}
        if self._entry.ending is None:
            known["compression"] = result.compression
        if self._entry.generation == 1:
            of_package = {k: n for k, n in self._facts.errors.items() if k == _OF_PACKAGE}
            known |= {"damaged": result.damaged, "errors": {**result.errors, **of_package}}
        elif counts is not None and self._facts.format == "none":
            # Facts that were lost, and made again: the count of the landing has it still.
            known["damaged"] = counts.counts.get("damaged", 0)
        if all(one.why in _SAME_RECORDS for one in self._generations.values()):
            known["records"] = dict(self._landed.types)
        return known

    def _counts(self) -> ActCounts | None:
        value = self._row.value(named_column(ActCounts, self._facts.act))
        return decoded(ActCounts, value)

    def _first_generation(self, facts: FileFacts) -> GenerationFacts:
        return GenerationFacts(
            file=self._entry.archive_file,
            size=facts.size,
            sha256=facts.sha256,
            why="landed",
            act=facts.act,
            dropped="" if self._entry.generation == 1 else None,
        )

    def _check_errors(self) -> Iterator[FsckFinding]:
        if self._entry.generation != 1 or _OF_PACKAGE in self._facts.errors:
            return
        wanted = errors_of(self._landed.result)
        stands = decoded(FileErrors, self._row.value(FileErrors.COLUMN))
        if wanted is not None and stands != wanted:
            yield self._finding("its errors are not noted", {FileErrors.COLUMN: wanted})

    def _finding(self, message: str, cells: dict[bytes, Cell] | None) -> FsckFinding:
        changes = [
            CellChange(TABLE, self._key, column, encode_cell(cell))
            for column, cell in (cells or {}).items()
        ]
        return FsckFinding(
            code="facts",
            file=self._entry.archive_file,
            message=message,
            repair="write it again as the file says" if cells else None,
            mend=partial(self._mender.put_right, changes, "facts", message) if cells else None,
        )


def _describe(there: FileFacts, said: FileFacts) -> str:
    names = ("size", "sha256", "format", "compression", "captures", "damaged", "records", "errors")
    name = next(one for one in names if getattr(there, one) != getattr(said, one))
    return f"{name} is {shown(getattr(there, name))}, the file says {shown(getattr(said, name))}"

"""What `dedupe --plan` counts besides savings: disk until old generations are dropped, and captures
of one entity in other chunks.

    archive files   new generations, next to the old ones
    sidecars        theirs
    rows            locations of captures of rewritten files, marks of revisits, pins of originals
    run files       decisions, in STORE/runs until the run has ended

Rows are counted as the embedded store keeps them.  Its log, some tens of megabytes while a run
writes, is not in here: how large it gets depends on the order of the row keys.

Bodies that differ in their chunks alone are not merged: docs/adr/0046-chunk-boundaries.md says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.catalog.record_rows import location_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.hbase_schema.capture_cells import DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import ManifestLine, format_line

Entity = tuple[bytes, int, bytes, int]
"""SHA-256 without the chunks, status, SHA-256 as stored, length in the file."""

_RUN = "dedupe-20200101T000000.000-01234567"
_RECORD_ID = "<urn:uuid:01234567-0123-0123-0123-0123456789ab>"
_SIDECAR_BYTES = 50
"""What a revisit adds to a sidecar: what it refers to, compressed.  Measured."""
_CELL_BYTES = 12
"""What SQLite adds to a cell: lengths, and its number in the page."""
_FILLED = 0.9
"""How full pages of SQLite are after cells came in between others.  Measured."""


class SameEntities(NamedTuple):
    """Bodies that are those of others but for their chunks, and what their records take."""

    records: int
    bytes: int


def count_same_entities(rows: Iterable[SidecarRow]) -> SameEntities:
    """Count the bodies that merging by entity would save, each once; of an entity one stays."""
    records = size = 0
    ordered = sort_outside_memory(_entities(rows))
    for _, copies in groupby(ordered, key=itemgetter(0, 1)):
        bodies = groupby(copies, key=itemgetter(2))
        next(bodies)
        for _, same in bodies:
            *_, length = next(same)
            records += 1
            size += length
    return SameEntities(records, size)


def _entities(rows: Iterable[SidecarRow]) -> Iterator[Entity]:
    for row in rows:
        if row.type != "response" or row.is_replaced or row.skip is not None:
            continue
        if row.dechunked_sha256 is not None and row.sha256 is not None:
            yield row.dechunked_sha256, row.status or 0, row.sha256, row.length


@dataclass(slots=True)
class ExtraDisk:
    """Bytes, of the sampled contents where not of whole files.  Memory: a number an original."""

    archive_files: float = 0
    sidecars: float = 0
    saving: float = 0
    locations: float = 0
    references: int = 0
    marks: int = 0
    run_files: int = 0
    _pinned: set[int] = field(default_factory=set)
    _pins: int = 0

    def add_decided(self, line: ManifestLine, row: SidecarRow) -> None:
        """A duplicate, whether it becomes a revisit or not."""
        key = row.row_key or b""
        self.run_files += len(format_line(line)) + len(key) + 2
        original = hash((line.original_file, line.original_offset, line.original_inner_offset))
        if original not in self._pinned:
            self._pinned.add(original)
            self._pins += _cell(key, Pin.COLUMN, encode_cell(Pin(run=_RUN)))

    def add_file(
        self,
        size: int,
        sidecar_size: int,
        *,
        ending: str | None,
        captures: int,
        saving: int,
        revisits: Sequence[tuple[ManifestLine, SidecarRow]],
    ) -> None:
        """A file that is rewritten, with the records that become revisits in it."""
        self.archive_files += size
        self.saving += saving
        self.sidecars += sidecar_size
        column = numbered_column(Location, 2)
        locations = 0
        for line, row in revisits:
            key = row.row_key or b""
            locations += _cell(key, column, encode_cell(location_of(row, ending)))
            self.marks += _cell(key, DedupeMark.COLUMN, encode_cell(_mark(line, key)))
            self.references += _SIDECAR_BYTES
        self.locations += captures * locations / len(revisits)

    def as_json(self, fraction: float) -> dict[str, int]:
        """Each part, scaled up from the sampled `fraction` of the contents."""
        rows = round((self.locations + (self.marks + self._pins) / fraction) / _FILLED)
        return {
            "archive_files": round(self.archive_files - self.saving / fraction),
            "sidecars": round(self.sidecars + self.references / fraction),
            "rows": rows,
            "run_files": round(self.run_files / fraction),
        }

    def total(self, fraction: float) -> int:
        """All of it."""
        return sum(self.as_json(fraction).values())


def _cell(key: bytes, column: bytes, value: bytes) -> int:
    return len(key) + len(column) + len(value) + _CELL_BYTES


def _mark(line: ManifestLine, key: bytes) -> DedupeMark:
    """About the one that will be written: the original's key and ID are as long as others."""
    return DedupeMark(
        run=_RUN,
        hash_extension=line.hash_extension or 0,
        copy_number=line.copy_number or 0,
        refers_to_key=key.decode("ascii"),
        refers_to_target_uri=line.original_uri,
        refers_to_date=line.original_date,
        refers_to_id=_RECORD_ID,
    )

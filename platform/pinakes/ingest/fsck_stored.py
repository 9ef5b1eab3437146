"""fsck of one file that has landed: bytes, sidecar, rows, locations, references."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.record_rows import digest_rows, location_of
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.hbase_schema.capture_cells import CaptureFacts, Location
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.name_keys import generation_file
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .fsck_findings import FsckFinding
from .fsck_mending import UNREADABLE, Claiming, StoredFileMender, iter_batches

_SAMPLE = 0.01


class StoredFileCheck:
    """Checks one stored file in its current generation."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        claim: Claiming,
    ) -> None:
        """`claim` holds the file while something of it is mended."""
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._mender = StoredFileMender(rows, archive, entry, facts, claim)
        self._name = generation_file(entry.archive_file, entry.generation)

    def findings(self, *, quick: bool, full: bool, seed: int) -> Iterator[FsckFinding]:
        """Everything that is wrong with the file; `quick` reads no bytes of it, `full` all."""
        size = self._archive.size(self._name)
        if size is None:
            yield self._finding("file-missing", "put it back from a copy")
            return
        yield from self._check_bytes(size, quick=quick)
        if self._archive.size(sidecar_name(self._name)) is None:
            yield self._sidecar_finding("sidecar-missing", "has no sidecar")
            return
        try:
            batches = iter_batches(iter_sidecar(self._archive, self._name))
            first = next(batches, None)
        except UNREADABLE as error:
            yield self._sidecar_finding("sidecar-unreadable", f"sidecar: {error}")
            return
        chosen = random.Random(_seed_of(seed, self._name))  # noqa: S311
        while first is not None:
            yield from self._check_rows(first)
            if not quick and not full:
                sample = [row for row in first if chosen.random() < _SAMPLE]
                yield from self._check_locations(sample)
            first = next(batches, None)
        if full:
            yield from self._check_all_locations()

    def _finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(code=code, file=self._name, message=message)

    def _check_bytes(self, size: int, *, quick: bool) -> Iterator[FsckFinding]:
        generation = read_generations(self._rows, self._entry.archive_file).get(
            self._entry.generation
        )
        wanted = (
            (self._facts.size, self._facts.sha256)
            if generation is None
            else (generation.size, generation.sha256)
        )
        if size != wanted[0]:
            yield self._finding("checksum", f"has {size} bytes, {wanted[0]} were stored")
        elif not quick and self._archive.checksum(self._name) != wanted[1]:
            yield self._finding("checksum", "its SHA-256 is not the one that was stored")

    # --- sidecar

    def _sidecar_finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(
            code=code,
            file=self._name,
            message=message,
            repair="make the sidecar and the rows anew from the archive file"
            if self._entry.generation == 1
            else "make the sidecar anew from the archive file and the rows",
            mend=self._mender.rebuild,
        )

    # --- rows

    def _check_rows(self, batch: Sequence[SidecarRow]) -> Iterator[FsckFinding]:
        captures = [row for row in batch if row.row_key is not None]
        location = self._location_column()
        found = self._rows.get_rows(
            "captures",
            [row.row_key for row in captures if row.row_key is not None],
            columns=[CaptureFacts.COLUMN, location],
        )
        missing, wrong = [], []
        for row in captures:
            cells = found.get(row.row_key or b"")
            if cells is None or cells.value(CaptureFacts.COLUMN) is None:
                missing.append(row)
            elif cells.value(location) != encode_cell(location_of(row)):
                wrong.append(row)
        digests = dict(pair for row in captures for pair in self._digest_rows(row))
        there = self._rows.get_rows("digests", list(digests))
        if missing or len(there) < len(digests):
            lost = len(digests) - len(there)
            yield self._rows_finding(
                "rows-missing", f"{len(missing)} captures and {lost} digests have no row", batch
            )
        if wrong:
            first = wrong[0]
            yield self._rows_finding(
                "location", f"{len(wrong)} rows, the first of {first.offset}, lie elsewhere", batch
            )
        yield from self._check_references(captures)

    def _location_column(self) -> bytes:
        return numbered_column(Location, self._entry.generation)

    def _digest_rows(self, row: SidecarRow) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
        return digest_rows(row, self._entry.archive_file, self._facts.collection)

    def _rows_finding(self, code: str, message: str, batch: Sequence[SidecarRow]) -> FsckFinding:
        return FsckFinding(
            code=code,
            file=self._name,
            message=message,
            repair="write the rows again from the sidecar",
            mend=partial(self._mender.write_again, batch),
        )

    # --- locations and references

    def _check_locations(self, rows: Iterable[SidecarRow]) -> Iterator[FsckFinding]:
        with self._archive.open(self._name) as file:
            source = Source(file, name=self._name)
            for row in rows:
                record = read_record(source, row.offset, inner_offset=row.inner_offset, digests=())
                if not isinstance(record, Record) or _place(record) != _place(row):
                    yield self._misplaced(row)
                    return

    def _check_all_locations(self) -> Iterator[FsckFinding]:
        """The whole file, once, beside its sidecar."""
        rows = iter_sidecar(self._archive, self._name)
        with self._archive.open(self._name) as file:
            items = iter_records(Source(file, name=self._name), digests=())
            records = (item for item in items if isinstance(item, Record))
            for record, row in zip_longest(records, rows):
                if record is None or row is None or _place(record) != _place(row):
                    yield self._misplaced(row)
                    return

    def _misplaced(self, row: SidecarRow | None) -> FsckFinding:
        if row is None:
            return self._sidecar_finding("location", "the sidecar lacks records of the file")
        return self._sidecar_finding(
            "location", f"the record {row.ordinal} does not lie at {row.offset}"
        )

    def _check_references(self, rows: Iterable[SidecarRow]) -> Iterator[FsckFinding]:
        ours = [row for row in rows if (row.copy_number or 0) > 1 and row.original_key]
        originals = get_captures(self._rows, [row.original_key for row in ours if row.original_key])
        for row in ours:
            original = originals.get(row.original_key or b"")
            if original is None or original.is_duplicate:
                what = "is not there" if original is None else "is a revisit itself"
                yield self._finding("reference", f"the original of the one at {row.offset} {what}")


def _place(record: Record | SidecarRow) -> tuple[object, ...]:
    """Where it lies, and which it is."""
    return (record.offset, record.inner_offset, record.record_id, record.target_uri)


def _seed_of(seed: object, name: str) -> bytes:
    """Names hold any bytes; a seed made of text would have to be UTF-8."""
    return f"{seed} {name}".encode("utf-8", "surrogateescape")

"""fsck of one landed file: bytes, sidecar, rows, locations, references."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import zip_longest

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import decode_capture, get_captures
from pinakes.catalog.file_records import iter_sidecar, name_of, read_generations
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.record_rows import digest_rows, location_of
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.withdrawals import is_entombed
from pinakes.errors import PinakesError
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .fsck_findings import FsckFinding
from .fsck_mending import UNREADABLE, Claiming, StoredFileMender, iter_batches

_SAMPLE = 0.01


class StoredFileCheck:
    """Checks one stored file: its current generation, and earlier ones that are kept."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        claim: Claiming,
    ) -> None:
        """`claim` holds the file while it is mended."""
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._mender = StoredFileMender(rows, archive, entry, facts, claim)
        self._name = entry.stored_name

    def findings(self, *, quick: bool, full: bool, seed: int) -> Iterator[FsckFinding]:
        """Yield everything that is wrong with the file; `quick` reads no bytes, `full` all."""
        size = self._archive.size(self._name)
        if size is None:
            yield self._finding("file-missing", "put it back from a copy")
            return
        yield from self._check_bytes(size, quick=quick)
        if self._archive.size(sidecar_name(self._name)) is None:
            yield self._sidecar_finding("sidecar-missing", "has no sidecar")
            return
        batches = iter_batches(iter_sidecar(self._archive, self._name))
        chosen = random.Random(_seed_of(seed, self._name))  # noqa: S311
        while True:
            try:
                batch = next(batches, None)
            except UNREADABLE as error:
                yield self._sidecar_finding("sidecar-unreadable", _message_of(error))
                return
            if batch is None:
                break
            yield from self._check_rows(batch)
            if not quick and not full:
                sample = [row for row in batch if chosen.random() < _SAMPLE]
                yield from self._check_locations(sample)
        if self._entry.holds_unkept_revisits:
            yield self._references_finding()
        if full:
            yield from self._check_all_locations()

    def superseded_findings(self, *, quick: bool, full: bool) -> Iterator[FsckFinding]:
        """Yield what is wrong with generations that were replaced and not dropped yet.

        Nothing is mended: their rows are those of the current generation.
        """
        for generation in range(1, self._entry.generation):
            name = name_of(self._entry, self._generations, generation)
            size = self._archive.size(name)
            if size is None:
                continue  # dropped; a sidecar without its file would mean that it was lost
            for code, message in self._superseded(name, generation, size, quick=quick, full=full):
                yield FsckFinding(code=code, file=name, message=f"superseded generation: {message}")

    def _superseded(
        self, name: str, generation: int, size: int, *, quick: bool, full: bool
    ) -> Iterator[tuple[str, str]]:
        amiss = self._bytes_amiss(name, generation, size, quick=quick)
        if amiss is not None:
            yield "checksum", amiss
        if self._archive.size(sidecar_name(name)) is None:
            yield "sidecar-missing", "has no sidecar"
        elif full:
            try:
                amiss = next(map(_location_amiss, self._misplaced(name)), None)
            except UNREADABLE as error:
                yield "sidecar-unreadable", _message_of(error)
            else:
                if amiss is not None:
                    yield "location", amiss

    def _finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(code=code, file=self._name, message=message)

    def _check_bytes(self, size: int, *, quick: bool) -> Iterator[FsckFinding]:
        amiss = self._bytes_amiss(self._name, self._entry.generation, size, quick=quick)
        if amiss is not None:
            yield self._finding("checksum", amiss)

    @cached_property
    def _generations(self) -> dict[int, GenerationFacts]:
        return read_generations(self._rows, self._entry.archive_file)

    def _bytes_amiss(self, name: str, number: int, size: int, *, quick: bool) -> str | None:
        """How the bytes of a generation differ from those that were stored."""
        generation = self._generations.get(number)
        facts = self._facts if generation is None else generation
        if size != facts.size:
            return f"has {size} bytes, {facts.size} were stored"
        if not quick and self._archive.checksum(name) != facts.sha256:
            return "its SHA-256 differs from the one that was stored"
        return None

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
        generation = self._entry.generation
        found = self._rows.get_rows(
            "captures",
            [row.row_key for row in captures if row.row_key is not None],
            columns=[b"m"],
        )
        missing, wrong, left = [], [], 0
        for row in captures:
            stored = found.get(row.row_key or b"")
            capture = decode_capture(stored) if stored is not None else None
            if capture is None:
                missing.append(row)
            elif capture.locations.get(generation) != location_of(row, self._entry.ending):
                wrong.append(row)
            if capture is not None and capture.withdrawal is not None and not is_entombed(row):
                left += 1
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
                "location", f"{len(wrong)} rows with wrong locations, first {first.offset}", batch
            )
        if left:
            what = (
                f"{left} captures are withdrawn, and still here: `pinakes withdraw` them again; "
                "where that says that their member is damaged, take the crawl out"
            )
            yield self._finding("unfinished-act", what)
        yield from self._check_references(captures)

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

    def _references_finding(self) -> FsckFinding:
        """Drawn when the rows are checked, and what is missing was written."""
        return FsckFinding(
            code="references",
            file=self._name,
            message="what its revisits by crawlers refer to is known from its sidecar only",
            repair="note that it is known from rows",
            mend=self._mender.keep_references,
        )

    # --- locations and references

    def _check_locations(self, rows: Iterable[SidecarRow]) -> Iterator[FsckFinding]:
        with self._archive.open(self._name) as file:
            source = Source(file, name=self._name)
            for row in rows:
                record = read_record(source, row.offset, inner_offset=row.inner_offset, digests=())
                if not isinstance(record, Record) or _place(record) != _place(row):
                    yield self._location_finding(row)
                    return

    def _check_all_locations(self) -> Iterator[FsckFinding]:
        for row in self._misplaced(self._name):
            yield self._location_finding(row)

    def _misplaced(self, name: str) -> Iterator[SidecarRow | None]:
        """The first row that is not of its record; None: a row is missing.  Reads all."""
        rows = iter_sidecar(self._archive, name)
        with self._archive.open(name) as file:
            items = iter_records(Source(file, name=name), digests=())
            records = (item for item in items if isinstance(item, Record))
            for record, row in zip_longest(records, rows):
                if record is None or row is None or _place(record) != _place(row):
                    yield row
                    return

    def _location_finding(self, row: SidecarRow | None) -> FsckFinding:
        return self._sidecar_finding("location", _location_amiss(row))

    def _check_references(self, rows: Iterable[SidecarRow]) -> Iterator[FsckFinding]:
        ours = [row for row in rows if row.is_replaced and row.original_key]
        originals = get_captures(self._rows, [row.original_key for row in ours if row.original_key])
        for row in ours:
            original = originals.get(row.original_key or b"")
            if original is None or original.is_duplicate:
                what = "does not exist" if original is None else "is a revisit itself"
                yield self._finding(
                    "reference", f"the original of the revisit at offset {row.offset} {what}"
                )
        bare = sorted(key for key, original in originals.items() if not original.pinned)
        if bare:
            yield FsckFinding(
                code="pin-missing",
                file=self._name,
                message=f"{len(bare)} originals that it refers to are not pinned",
                repair="pin them",
                mend=partial(self._mender.pin, bare),
            )


def _location_amiss(row: SidecarRow | None) -> str:
    if row is None:
        return "records of the file are missing in the sidecar"
    return f"record {row.ordinal} is not at offset {row.offset}"


def _message_of(error: Exception) -> str:
    return error.message if isinstance(error, PinakesError) else f"sidecar: {error}"


def _place(record: Record | SidecarRow) -> tuple[object, ...]:
    """Its location, and its id."""
    return (record.offset, record.inner_offset, record.record_id, record.target_uri)


def _seed_of(seed: object, name: str) -> bytes:
    """A seed from a name, which may hold any bytes; seeds from text must be UTF-8."""
    return f"{seed} {name}".encode("utf-8", "surrogateescape")

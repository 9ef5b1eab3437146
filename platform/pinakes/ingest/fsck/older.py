"""fsck of the generations of a file that were replaced, and are kept or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.catalog.dropped import act_that_dropped, deleting_words, put_back_words
from pinakes.catalog.file_records import name_of, read_generations
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import SidecarOf, SidecarRow, sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.errors import InputRefused, PinakesError
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.file_cells import ACCEPTED
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .cell_writing import CellWriter
from .findings import FsckFinding
from .mending import SIDECAR_ERRORS, Claiming
from .proofs import misplaced, place_of
from .quarantine import Quarantine
from .sidecars import put_sidecar, read_older_rows


class OlderGenerations:
    """Checks the older generations of one file."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        claim: Claiming,
        quarantine: Quarantine,
    ) -> None:
        """`claim` holds the file while it is mended, `quarantine` keeps what that replaces."""
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._claim = claim
        self._quarantine = quarantine
        self._generations = read_generations(rows, entry.archive_file)

    def findings(self, *, quick: bool, full: bool) -> Iterator[FsckFinding]:
        """Yield what is wrong with generations that were replaced and not dropped yet.

        Sidecars are made again where the bytes are those on record; rows are those of the current
        generation.
        """
        for generation in range(1, self._entry.generation):
            name = name_of(self._entry, self._generations, generation)
            if self._archive.size(name) is None:
                yield from self._lost(name, generation)
                continue
            facts = self._generations.get(generation)
            act = act_that_dropped(self._rows, facts)
            if act is not None:
                yield self._put_back(name, act)
                continue
            for code, message in self._superseded(name, generation, quick=quick, full=full):
                can_mend = code != "checksum" and self._may_be_made(name, generation)
                way = "" if can_mend else f"; {deleting_words(self._collection)}"
                yield FsckFinding(
                    code=code,
                    file=name,
                    message=f"superseded generation: {message}{way}",
                    repair="rebuild the sidecar from the archive file" if can_mend else None,
                    mend=partial(self._make_sidecar, name, generation, code, message)
                    if can_mend
                    else None,
                )

    def _may_be_made(self, name: str, generation: int) -> bool:
        """Whether the file is there as it was written, by its size."""
        facts = self._generations.get(generation)
        is_accepted = facts is not None and facts.why == ACCEPTED
        return not is_accepted and how_bytes_differ(self._archive, name, facts, quick=True) is None

    def _make_sidecar(self, name: str, generation: int, code: str, why: str) -> str | None:
        """Raises InputRefused where its bytes or rows do not show what it was."""
        with self._claim(self._entry) as held:
            facts = self._generations[generation]
            problem = how_bytes_differ(self._archive, name, facts)
            if problem is not None:
                raise InputRefused(f"not mended, since {problem}", file=name)
            of = SidecarOf(name, generation, facts.sha256)
            return put_sidecar(
                self._archive,
                self._quarantine,
                held,
                lambda: read_older_rows(
                    self._rows,
                    self._archive,
                    self._entry.archive_file,
                    of,
                    act_time_ms=CellWriter(self._rows, self._entry).landed_ms(),
                ),
                of,
                entry=self._entry,
                code=code,
                why=why,
            )

    @property
    def _collection(self) -> str:
        facts = self._entry.facts
        return facts.collection if facts is not None else ""

    def _lost(self, name: str, generation: int) -> Iterator[FsckFinding]:
        """Of a generation that older versions wrote it is not known whether it was dropped."""
        facts = self._generations.get(generation)
        if facts is not None and facts.dropped == "":
            yield FsckFinding(
                code="generation-missing",
                file=name,
                message="superseded generation: is gone, and no act has dropped it",
            )

    def _put_back(self, name: str, act: str) -> FsckFinding:
        """What it holds may have been withdrawn: it is not given out."""
        return FsckFinding(
            code="generation-back",
            file=name,
            message=f"superseded generation: {put_back_words(act, self._collection)}",
        )

    def _superseded(
        self, name: str, generation: int, *, quick: bool, full: bool
    ) -> Iterator[tuple[str, str]]:
        problem = how_bytes_differ(
            self._archive, name, self._generations.get(generation), quick=quick
        )
        if problem is not None:
            yield "checksum", problem
        if self._archive.size(sidecar_name(name)) is None:
            yield "sidecar-missing", "has no sidecar"
        elif full:
            try:
                problem = next(map(location_problem, misplaced(self._archive, name)), None)
            except SIDECAR_ERRORS as error:
                yield "sidecar-unreadable", message_of(error)
            else:
                if problem is not None:
                    yield "location", problem


class OlderPlaces:
    """The places of records in an older generation, drawn with those of the current one."""

    def __init__(self, archive: ArchiveReader, name: str) -> None:
        self._ending = generation_of(name).ending
        self._file = archive.open(name)
        items = iter_records(Source(self._file, name=name), digests=())
        self._records = (item for item in items if isinstance(item, Record))

    def of_record(self, row: SidecarRow) -> Location | None:
        """That of the next record; None unless it is this one."""
        record = next(self._records, None)
        if (
            record is None
            or place_of(record)[2:] != place_of(row)[2:]
            or record.ordinal != row.ordinal
        ):
            return None
        return Location(
            offset=record.offset,
            length=record.length,
            inner_offset=record.inner_offset,
            ending=self._ending,
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def location_problem(row: SidecarRow | None) -> str:
    """Of what `misplaced` finds."""
    if row is None:
        return "records of the file are missing in the sidecar"
    return f"record {row.ordinal} is not at offset {row.offset}"


def message_of(error: Exception) -> str:
    """What is wrong with a sidecar."""
    return error.message if isinstance(error, PinakesError) else f"sidecar: {error}"

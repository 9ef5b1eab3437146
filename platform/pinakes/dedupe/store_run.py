"""`dedupe` over a store: decide, pin, write new generations, file by file.

A run holds its collection's lease.  Each step can be done again: decisions are kept in the
run's folder, pins and marks are the same cells, a file is moved to its new generation by
one check-and-put.  A run that died is taken up by the next `dedupe` of the collection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    put_first_decisions,
    read_entry,
    release_claim,
)
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.errors import Conflict, DigestMismatch, InputRefused, PinakesError
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.generations import (
    current_name,
    move_to_generation,
    write_generation,
)
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .archive_files import ArchiveFiles
from .collection import Collection, Decisions
from .late_revisits import LateRevisits
from .refs import RefsCount, RevisitWriter
from .resolution import Resolution
from .run_files import COUNTS, GENERATIONS, REPORT, RunFiles
from .stored_lines import is_replaced
from .validate import Comparison, compare_files

WHY = "dedupe"
# What a revisit takes, about: where a file would save too little is told before it is written.
_REVISIT_BYTES = 700


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeRequest:
    """What a run is to do; `crawl` None is the whole collection."""

    collection: str
    crawl: str | None
    compare: bool = True
    min_saving_bytes: int | None = 64
    min_file_saving: float = 0.01
    max_extra_bytes: int | None = None


@dataclass(slots=True)
class DedupeReport:
    """What a run did."""

    run: str
    files: int = 0
    targets_restored: int = 0
    files_left: Counter[str] = field(default_factory=Counter)
    extra_bytes: int = 0
    refs: RefsCount = field(default_factory=RefsCount)
    problems: list[PinakesError] = field(default_factory=list)
    decisions: dict[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return {
            "run": self.run,
            "files_rewritten": self.files,
            "targets_restored": self.targets_restored,
            "files_left": dict(self.files_left),
            "revisits": self.refs.records,
            "saved_bytes": self.refs.saved_bytes,
            "extra_bytes": self.extra_bytes,
            "left_full": dict(self.refs.left_full),
            "problems": [str(problem) for problem in self.problems],
            "decisions": self.decisions,
        }


class StoreRun:
    """One run under its lease; see the module.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        files: RunFiles,
        request: DedupeRequest,
        *,
        run: str,
        act_time_ms: int,
        claim: Callable[[str], Held],
        at: Callable[[str], None] = lambda step: None,
        space: SortSpace = DEFAULT_SPACE,
    ) -> None:
        """`claim(archive_file)` takes a file's claim for this run."""
        self._rows = rows
        self._archive = archive
        self._files = files
        self._request = request
        self._run = run
        self._act_time_ms = act_time_ms
        self._claim = claim
        self._at = at
        self._space = space

    def execute(self, advance: Callable[[int], None] = lambda count: None) -> DedupeReport:
        """Do what is left to do of this run."""
        report = DedupeReport(self._run)
        collection = self._read_collection()
        if not self._files.is_decided:
            late = LateRevisits(
                self._rows,
                self._archive,
                run=self._run,
                claim=self._claim,
                check=_check,
                at=self._at,
            )
            report.targets_restored = late.restore_targets(collection)
            if report.targets_restored:
                collection = self._read_collection()
            put_first_decisions(
                self._rows,
                collection.entries.values(),
                run=self._run,
                act_time_ms=self._act_time_ms,
            )
            self._at("noted as decided on")
            self._files.write_json(GENERATIONS, collection.generations())
        # Decisions speak of places; those of files moved meanwhile are in the old generation.
        generations = self._files.read_json(GENERATIONS)
        collection.as_of({name: int(str(number)) for name, number in generations.items()})
        with collection.open_files() as bodies:
            if not self._files.is_decided:
                self._decide(collection, bodies, advance)
            self._at("decided")
            report.decisions = self._files.read_json(COUNTS)
            self._pin(collection)
            self._at("pinned")
            writer = RevisitWriter(
                bodies,
                run=self._run,
                min_saving_bytes=self._request.min_saving_bytes,
                duplicates=frozenset(
                    (line.file, line.offset, line.inner_offset)
                    for line in self._files.read_decided()
                ),
            )
            for name, lines in self._files.by_file():
                self._rewrite_file(name, lines, writer, report)
                advance(1)
        self._files.write_json(REPORT, report.as_json())
        self._at("reported")
        return report

    def _read_collection(self) -> Collection:
        return Collection(
            self._rows,
            self._archive,
            self._request.collection,
            run=self._run,
            space=self._space,
        )

    def _decide(
        self, collection: Collection, bodies: ArchiveFiles, advance: Callable[[int], None]
    ) -> None:
        decisions = Decisions()
        lines = collection.decide(bodies, decisions, compare=self._request.compare, advance=advance)
        counts: dict[str, object] = {}

        def wanted() -> Iterator[ManifestLine]:
            for line in lines:
                if self._request.crawl in (None, crawl_of(line.file)):
                    yield line
            counts.update(decisions.as_json())

        self._files.write_decided(wanted(), counts)

    def _pin(self, collection: Collection) -> None:
        """Pin each original that a reference to be written needs; note its row key."""
        self._files.write_original_keys(
            key for _, key in sort_outside_memory(self._pinned_keys(collection), space=self._space)
        )

    def _pinned_keys(self, collection: Collection) -> Iterator[tuple[int, bytes]]:
        """(number of the decided line, row key of its original); pins on the way."""
        wanted = sort_outside_memory(
            (
                (line.original_file or "", line.original_offset or 0,
                 line.original_inner_offset, number)
                for number, line in enumerate(self._files.read_decided())
            ),
            space=self._space,
        )  # fmt: skip
        cell = {Pin.COLUMN: encode_cell(Pin(run=self._run))}
        for name, group in groupby(wanted, key=lambda place: place[0]):
            rows = collection.sidecar_rows(name)
            row: SidecarRow | None = None
            puts: list[Put] = []
            for _, offset, inner, number in group:
                while row is None or (row.offset, row.inner_offset) < (offset, inner):
                    row = next(rows, None)
                    if row is None:
                        raise PinakesError("an original is not in its sidecar: run fsck", file=name)
                if (row.offset, row.inner_offset) != (offset, inner) or row.row_key is None:
                    raise PinakesError("an original is not in its sidecar: run fsck", file=name)
                if not puts or puts[-1].row != row.row_key:
                    puts.append(Put(row.row_key, cell, self._act_time_ms))
                yield number, row.row_key
            self._rows.mutate("captures", puts)

    def _rewrite_file(
        self,
        name: str,
        pairs: list[tuple[ManifestLine, bytes]],
        writer: RevisitWriter,
        report: DedupeReport,
    ) -> None:
        entry = read_entry(self._rows, name)
        if entry.facts is None or entry.state != "stored":
            report.files_left["not stored any more"] += 1
            return
        saving = sum(max(line.length - _REVISIT_BYTES, 0) for line, _ in pairs)
        if saving < self._request.min_file_saving * entry.facts.size:
            report.files_left["min-file-saving"] += 1
            return
        limit = self._request.max_extra_bytes
        if limit is not None and report.extra_bytes + entry.facts.size - saving > limit:
            report.files_left["max-extra-bytes"] += 1
            return
        try:
            held = self._claim(name)
        except Conflict as problem:
            report.files_left["claimed by another"] += 1
            report.problems.append(problem)
            return
        try:
            self._write_claimed(held, pairs, writer, report)
        except (DigestMismatch, InputRefused) as problem:
            report.files_left["failed"] += 1
            report.problems.append(problem)
        release_claim(self._rows, held)

    def _write_claimed(
        self,
        held: Held,
        pairs: list[tuple[ManifestLine, bytes]],
        writer: RevisitWriter,
        report: DedupeReport,
    ) -> None:
        entry = read_entry(self._rows, held.archive_file)
        count = RefsCount()
        decided = _decided_by_ordinal(self._archive, entry, pairs)
        if decided is None:
            # A run that died after this file's move: it has been done.
            report.files_left["done already"] += 1
            return
        written = write_generation(
            self._archive,
            entry,
            held,
            partial(writer.replacements, lines=[line for line, _ in pairs], count=count),
            check=_check,
            annotate=partial(_annotate, decided),
            at=self._at,
        )
        move_to_generation(
            self._rows,
            self._archive,
            held,
            written,
            why=WHY,
            marks=partial(self._marks_of, decided),
            at=self._at,
        )
        report.files += 1
        report.extra_bytes += written.size
        report.refs.add(count)

    def _marks_of(self, decided: _Decided, row: SidecarRow) -> dict[bytes, bytes]:
        """The mark of a record that became a revisit just now."""
        if row.ordinal not in decided or not is_replaced(row):
            return {}
        mark = DedupeMark(
            run=self._run,
            hash_extension=row.hash_extension or 0,
            copy_number=row.copy_number or 0,
            refers_to_key=row.original_key.decode("ascii") if row.original_key else None,
            refers_to_target_uri=row.refers_uri,
            refers_to_date=row.refers_date,
            refers_to_id=row.refers_id,
        )
        return {DedupeMark.COLUMN: encode_cell(mark)}


_Decided = dict[int, tuple[ManifestLine, bytes]]


def _decided_by_ordinal(
    archive: ArchiveStore, entry: FileEntry, pairs: list[tuple[ManifestLine, bytes]]
) -> _Decided | None:
    """The decisions by ordinal; None where the places are those of an older generation."""
    by_place = {(line.offset, line.inner_offset): (line, key) for line, key in pairs}
    result: _Decided = {}
    with archive.open(sidecar_name(current_name(entry))) as file:
        for row in read_sidecar(file):
            pair = by_place.get((row.offset, row.inner_offset))
            if (
                pair is not None
                and (pair[0].target_uri, pair[0].date) == (row.target_uri, row.date)
                and row.copy_number is None
            ):
                result[row.ordinal] = pair
    return result if len(result) == len(pairs) else None


def _annotate(decided: _Decided, row: SidecarRow, record: Record) -> SidecarRow:
    """Note in the row of a record that became a revisit what it refers to."""
    line, key = decided.get(row.ordinal, (None, None))
    if line is None or record.type != "revisit" or not is_ours(record.header):
        return row
    header = record.header
    return row._replace(
        hash_extension=line.hash_extension,
        copy_number=line.copy_number,
        original_key=key,
        refers_uri=strip_brackets(header.get("WARC-Refers-To-Target-URI")),
        refers_date=header.get("WARC-Refers-To-Date"),
        refers_id=strip_brackets(header.get("WARC-Refers-To")),
    )


def _check(old: Source, new: Source) -> None:
    """Raise DigestMismatch unless the new file gives the old one back, record by record."""
    found = Comparison()
    with Resolution() as resolution:
        compare_files(old, new, resolution, found)
    if found.discrepancies:
        first = found.discrepancies[0]
        raise DigestMismatch(
            f"the new generation is not what it should be ({first.code}: {first.message}); "
            "nothing was changed",
            file=old.name,
            offset=first.offset,
        )

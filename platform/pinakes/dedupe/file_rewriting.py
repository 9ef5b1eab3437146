"""One file of a run: its duplicates become revisits, in a new generation that is then current."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_rows import FileEntry, Held, read_entry, release_claim
from pinakes.catalog.generation_rows import is_replaced, mark_of
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.generations import current_name, move_to_generation, write_generation
from pinakes.row_store.port import RowStore
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .refs import RefsCount, RevisitWriter
from .resolution import Resolution
from .run_report import WANTS_ROOM, DedupeReport, DedupeRequest
from .stored_files import StoredFiles
from .validate import Comparison, compare_files
from .waves import Room

WHY = "dedupe"
# What a revisit takes, about: where a file would save too little is told before it is written.
_REVISIT_BYTES = 700
_ROWS = 1000
Pair = tuple[ManifestLine, bytes]
"""A decided line, and the row key of its original."""
_Decided = dict[int, Pair]


class FileRewriter:
    """Rewrites the files of one run, one after the other.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        request: DedupeRequest,
        *,
        run: str,
        claim: Callable[[str], Held],
        writer: RevisitWriter,
        bodies: StoredFiles,
        moved: set[str],
        room: Room,
        at: Callable[[str], None],
    ) -> None:
        """`moved` are the files that are not current any more as they were decided on."""
        self._rows = rows
        self._archive = archive
        self._request = request
        self._run = run
        self._claim = claim
        self._writer = writer
        self._bodies = bodies
        self._moved = moved
        self._room = room
        self._at = at

    def rewrite(self, name: str, pairs: list[Pair], report: DedupeReport) -> None:
        """Rewrite a file, or count in the report why it is left as it is."""
        entry = read_entry(self._rows, name)
        why_not = self._why_not(entry, pairs)
        if why_not is not None:
            report.files_left[why_not] += 1
            return
        try:
            held = self._claim(name)
        except Conflict as problem:
            report.files_left["claimed by another"] += 1
            report.problems.append(problem)
            return
        try:
            self._write_claimed(held, pairs, report)
        except (DigestMismatch, InputRefused) as problem:
            report.files_left["failed"] += 1
            report.problems.append(problem)
        release_claim(self._rows, held)

    def _why_not(self, entry: FileEntry, pairs: list[Pair]) -> str | None:
        size = self._archive.size(current_name(entry))
        if entry.state != "stored" or size is None:
            return "not stored any more"
        if entry.archive_file in self._moved:
            return None
        saving = sum(max(line.length - _REVISIT_BYTES, 0) for line, _ in pairs)
        if saving < self._request.min_file_saving * size:
            return "min-file-saving"
        if not self._room.could_ever_hold(size - saving):
            return "larger than max-extra-bytes"
        return None if self._room.make(size - saving) else WANTS_ROOM

    def _write_claimed(self, held: Held, pairs: list[Pair], report: DedupeReport) -> None:
        entry = read_entry(self._rows, held.archive_file)
        count = RefsCount()
        decided = _decided_by_ordinal(self._archive, entry, pairs)
        if decided is None or held.archive_file in self._moved:
            # This run died after the file's move: it has been done.
            report.files_left["done already"] += 1
            return
        lines = self._relocated(pairs)
        written = write_generation(
            self._archive,
            entry,
            held,
            partial(self._writer.replacements, lines=lines, count=count),
            check=check_generation,
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
        self._moved.add(held.archive_file)
        self._bodies.close(held.archive_file)
        self._room.take(written.size)
        report.files += 1
        report.extra_bytes += written.size
        report.refs.add(count)

    def _relocated(self, pairs: list[Pair]) -> list[ManifestLine]:
        """The lines, with each original where it lies now: its old place may be dropped."""
        keys = sorted({key for line, key in pairs if line.original_file in self._moved})
        places: dict[bytes, Placed] = {}
        for start in range(0, len(keys), _ROWS):
            found = get_captures(self._rows, keys[start : start + _ROWS]).values()
            for placed in place_captures(self._rows, found):
                places[placed.capture.key] = placed
                self._bodies.add(placed.file)
        return [_at_place(line, places.get(key)) for line, key in pairs]

    def _marks_of(self, decided: _Decided, row: SidecarRow) -> dict[bytes, bytes]:
        """The mark of a record that became a revisit just now."""
        mark = mark_of(row, self._run) if row.ordinal in decided else None
        return {DedupeMark.COLUMN: encode_cell(mark)} if mark is not None else {}


def _at_place(line: ManifestLine, placed: Placed | None) -> ManifestLine:
    if placed is None:
        return line
    return line._replace(
        original_file=placed.file,
        original_offset=placed.location.offset,
        original_length=placed.location.length,
        original_inner_offset=placed.location.inner_offset,
    )


def _decided_by_ordinal(
    archive: ArchiveStore, entry: FileEntry, pairs: list[Pair]
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
                and not is_replaced(row)
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


def check_generation(old: Source, new: Source) -> None:
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

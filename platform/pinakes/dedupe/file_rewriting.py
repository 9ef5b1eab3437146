"""One file of a run: its duplicates become revisits, in a new generation that is then current."""

from __future__ import annotations

from functools import partial

from pinakes.archive_store.anew import write_anew
from pinakes.catalog.asides import clear_dead_asides
from pinakes.catalog.file_rows import FileEntry, Held, read_entry, release_claim
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.generations import Written, current_generation, write_generation

from .decided_records import Pair, annotate, decided_by_ordinal
from .file_choice import choose_file
from .given_back import require_records
from .refs import RefsCount, RevisitWriter
from .rewriting_run import RewritingRun, move_records
from .run_report import WANTS_ROOM, DedupeReport
from .stored_files import StoredFiles


class FileRewriter:
    """Rewrites the files of one run, one after the other, here.  Not for several threads."""

    def __init__(self, run: RewritingRun, writer: RevisitWriter, bodies: StoredFiles) -> None:
        self._run = run
        self._writer = writer
        self._bodies = bodies

    def rewrite(self, name: str, pairs: list[Pair], report: DedupeReport) -> None:
        """Rewrite a file, or count in the report why it is left as it is."""
        entry = read_entry(self._run.rows, name)
        try:
            why_not = None if name in self._run.moved else self._why_not(entry, pairs)
        except InputRefused as problem:
            report.leave("failed", problem)
            return
        if why_not is not None:
            report.files_left[why_not] += 1
            return
        try:
            held = self._run.claim(name)
        except Conflict as problem:
            report.leave("claimed by another", problem)
            return
        clear_dead_asides(self._run.archive, held)
        try:
            self._write_claimed(held, pairs, report)
        except (DigestMismatch, InputRefused) as problem:
            report.leave("failed", problem)
        release_claim(self._run.rows, held)

    def _why_not(self, entry: FileEntry, pairs: list[Pair]) -> str | None:
        why_not, size = choose_file(self._run, entry, pairs)
        if why_not is None and not self._run.room.make(size):
            return WANTS_ROOM
        return why_not

    def _write_claimed(self, held: Held, pairs: list[Pair], report: DedupeReport) -> None:
        run = self._run
        old = current_generation(read_entry(run.rows, held.archive_file))
        decided = decided_by_ordinal(run.archive, old.name, pairs)
        if decided is None or held.archive_file in run.moved:
            # This run died after the file's move: it has been done.
            report.files_left["done already"] += 1
            return
        lines = run.relocate(pairs)
        for line in lines:
            if line.original_file is not None:
                self._bodies.add(line.original_file)

        def write() -> tuple[Written, RefsCount]:
            count = RefsCount()
            written = write_generation(
                run.archive,
                run.archive,
                old,
                partial(self._writer.replacements, lines=lines, count=count),
                token=held.claim.token,
                check=require_records,
                annotate=partial(annotate, decided),
                at=run.at,
            )
            return written, count

        written, count = write_anew(write, held.archive_file)
        move_records(run.rows, run.archive, held, written, decided=decided, run=run.run, at=run.at)
        run.note_moved(held.archive_file, written.size)
        self._bodies.close(held.archive_file)
        report.add_file(written.size, count)

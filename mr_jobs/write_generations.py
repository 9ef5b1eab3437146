"""The duplicates of files in the store, written as revisits in new generations: as a job.

    python -m pinakes.mr_jobs.write_generations -r inline|local|hadoop --output-dir DIR
        --stored LINES...

An input line is the row key of the original, then a line of `flag_duplicates`.  Each file's new
generation is written to the output, below `_written/`, with its sidecar; publishing and writing
rows is left to the driver (`pinakes.dedupe.run.wave_rewriting`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from uuid import uuid4

from pinakes.acts.generations import write_generation
from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.run.decided_records import (
    Decided,
    Pair,
    annotate,
    decided_by_ordinal,
)
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.dedupe.write.given_back import require_records
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.outcome_lines import outcome_text
from pinakes.mr_jobs.lines.sort_text import SEPARATOR
from pinakes.mr_jobs.revisits_job import Duplicates, RevisitsJob
from pinakes.rewrite.replace import Replacement
from pinakes.warc.source import Source


def pair_text(pair: Pair) -> bytes:
    """A line of this job's input."""
    line, key = pair
    return SEPARATOR.join((key.hex().encode(), line_text(line)))


def text_pair(text: bytes) -> Pair:
    """Undo `pair_text`."""
    key, line = text.split(SEPARATOR, 1)
    return text_line(line), bytes.fromhex(key.decode())


class WriteGenerationsJob(RevisitsJob):
    """See the module."""

    def duplicate(self, text: bytes) -> tuple[ManifestLine, bytes]:
        key, line = text.split(SEPARATOR, 1)
        return text_line(line), key

    def write(self, name: str, duplicates: Duplicates) -> bytes:
        keys = (bytes.fromhex(note.decode()) for note in duplicates.notes)
        pairs = list(zip(duplicates.lines, keys, strict=True))
        try:
            stored = self.task.generation_of(name).name
            decided = decided_by_ordinal(self.task.archive(), stored, pairs)
            if decided is None:
                raise Conflict("these places are not of this generation", file=name)  # noqa: TRY301
            outcome = self._write_generation(name, duplicates, decided)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            outcome = FileOutcome(archive_file=name, problem=problem)
        return outcome_text(outcome)

    def _write_generation(self, name: str, duplicates: Duplicates, decided: Decided) -> FileOutcome:
        def replacements(source: Source) -> Iterator[Replacement]:
            self.task.heartbeat.watch(lambda: source.position)
            yield from self.writer(duplicates).replacements(source, duplicates.lines, count)

        count = RefsCount()
        written = write_generation(
            self.task.archive(),
            self.written,
            self.task.generation_of(name),
            replacements,
            stored_sha256=None,
            token=uuid4().hex,
            check=lambda before, after: require_records(before, after, count.take_bodies()),
            annotate=partial(annotate, decided),
        )
        return FileOutcome(
            archive_file=name,
            written=written,
            sidecar_sha256=self.written.checksum(sidecar_name(written.name)),
            count=count,
        )


if __name__ == "__main__":
    WriteGenerationsJob.run()

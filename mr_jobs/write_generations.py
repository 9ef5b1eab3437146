"""The duplicates of files in the store, written as revisits in new generations: as a job.

    python -m pinakes.mr_jobs.write_generations -r inline|local|hadoop --output-dir DIR
        --stored LINES...

An input line is the row key of the original, then a line of `flag_duplicates`.  Each file's new
generation is written to the output, below `_written/`, with its sidecar; publishing and writing
rows is left to the driver (`pinakes.acts.waves`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pinakes.acts.generations import Annotate, Check, Contents
from pinakes.acts.waves import write_aside
from pinakes.archive_store.port import ArchiveReader
from pinakes.dedupe.run.file_rewriting import Pair, annotate, decided_by_ordinal
from pinakes.dedupe.write.proofs import require_records
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import Conflict
from pinakes.hbase_schema.generation_names import Generation
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.outcome_lines import outcome_text
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.mr_jobs.lines.sort_text import SEPARATOR
from pinakes.mr_jobs.revisits_job import FileDuplicates, RevisitsJob
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


def count_json(count: RefsCount) -> dict[str, Any]:
    """What became of the duplicates of a file, for its outcome."""
    problems = [problem_text(each).decode() for each in count.problems]
    return {**count.as_json(), "problems": problems}


def json_count(fields: Mapping[str, Any]) -> RefsCount:
    """Undo `count_json`."""
    problems = [text_problem(text.encode()) for text in fields["problems"]]
    left_full = Counter[str](fields["left_full"])
    return RefsCount(fields["revisits"], fields["saved_bytes"], left_full, problems)


class WriteGenerationsJob(RevisitsJob):
    """See the module."""

    def duplicate(self, text: bytes) -> tuple[ManifestLine, bytes]:
        key, line = text.split(SEPARATOR, 1)
        return text_line(line), key

    def write(self, name: str, duplicates: FileDuplicates) -> bytes:
        archive, generation = self.task.archive(), self.task.generation_of(name)
        parts = partial(self._parts, archive, generation, duplicates)
        return outcome_text(write_aside(archive, self.written, generation, parts), count_json)

    def _parts(
        self, archive: ArchiveReader, generation: Generation, duplicates: FileDuplicates
    ) -> tuple[Contents, Check, Annotate, RefsCount]:
        keys = (bytes.fromhex(note.decode()) for note in duplicates.notes)
        pairs = list(zip(duplicates.lines, keys, strict=True))
        decided = decided_by_ordinal(archive, generation.name, pairs)
        if decided is None:
            name = generation.archive_file
            raise Conflict("these places are not of this generation", file=name)
        count = RefsCount()

        def replacements(source: Source) -> Iterator[Replacement]:
            self.task.heartbeat.watch(lambda: source.position)
            yield from self.writer(duplicates).replacements(source, duplicates.lines, count)

        def check(before: Source, after: Source) -> None:
            require_records(before, after, count.take_bodies())

        return replacements, check, partial(annotate, decided), count


if __name__ == "__main__":
    WriteGenerationsJob.run()

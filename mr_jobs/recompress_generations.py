"""Files in the store to new generations in another compression, each by one map.

    python -m pinakes.mr_jobs.recompress_generations -r inline|local|hadoop --output-dir DIR
        --stored --form FORM LIST...

Each new generation is written to the output, below `_written/`, with its sidecar; publishing and
writing rows is left to the driver (`pinakes.recompression.stored`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from uuid import uuid4

from pinakes.acts.generations import InAnotherForm, Written, write_generation
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ONE_FILE_ONLY
from pinakes.hbase_schema.generation_names import GZIP, PLAIN, ZSTD
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS, ArchiveJob
from pinakes.mr_jobs.form_options import add_form_options, form_of
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.recompression.tasks import NotWritten, Outcome, WrittenFile
from pinakes.rewrite.convert_file import WRITTEN
from pinakes.rewrite.file_parts import Bytes
from pinakes.rewrite.recompress import require_same
from pinakes.rewrite.recompress_file import Recompression, member_pieces
from pinakes.warc.source import Source

_ENDINGS = {"gzip": GZIP, "plain": PLAIN, "zstd": ZSTD}


def outcome_text(outcome: Outcome) -> bytes:
    """An outcome as a line, without `folder`, which the driver knows."""
    told = {"archive_file": outcome.archive_file}
    if isinstance(outcome, NotWritten):
        problem = problem_text(outcome.problem).decode()
        why = {"old_sha256": outcome.old_sha256, "problem": problem}
        return json.dumps({**told, **why}).encode()
    made = {
        "written": asdict(outcome.written),
        "sidecar_sha256": outcome.sidecar_sha256,
        "result": outcome.result.as_json(),
    }
    return json.dumps({**told, **made}).encode()


def text_outcome(line: bytes, folder: str) -> Outcome:
    """Undo `outcome_text`."""
    told = json.loads(line)
    problem = told.pop("problem", None)
    if problem is not None:
        return NotWritten(**told, problem=text_problem(problem.encode()))
    result, written = told.pop("result"), told.pop("written")
    return WrittenFile(
        **told,
        folder=folder,
        written=Written(**written),
        result=Recompression.from_json(result),
    )


class RecompressGenerationsJob(ArchiveJob):
    """See the module."""

    JOBCONF = LINES_OF_MAPS
    WRITES_FILES = True

    def configure_args(self) -> None:
        super().configure_args()
        add_form_options(self)

    def mapper_init(self) -> None:
        self.begin_task()
        self._form = form_of(self.options)
        self._written = self.task.files_written()

    def mapper(self, _: None, name: bytes) -> Iterator[tuple[None, bytes]]:
        file = name.decode("utf-8", "surrogateescape")
        self.task.count(FILES)
        try:
            outcome: Outcome = self._write(file)
        except ONE_FILE_ONLY as problem:
            sha256 = self._sha256_of(file)
            outcome = NotWritten(archive_file=file, old_sha256=sha256, problem=problem)
        yield None, outcome_text(outcome)

    def _sha256_of(self, file: str) -> str | None:
        with suppress(*ONE_FILE_ONLY):
            return self.task.archive().checksum(self.task.generation_of(file).name)
        return None

    def _write(self, name: str) -> WrittenFile:
        archive, generation = self.task.archive(), self.task.generation_of(name)
        result = Recompression(file=generation.name, target="", outcome=WRITTEN)

        def pieces(old: Source) -> Iterator[Bytes]:
            self.task.heartbeat.watch(lambda: old.position)
            result.bytes_before = old.size
            return member_pieces(old, self._form, result)

        def check(old: Source, new: Source) -> None:
            self.task.heartbeat.watch(lambda: old.position + new.position)
            result.content = require_same(old, new)

        written = write_generation(
            archive,
            self._written,
            generation,
            InAnotherForm(_ENDINGS[self.options.form], pieces),
            stored_sha256=None,
            token=uuid4().hex,
            check=check,
            annotate=lambda row, record: row,
        )
        result.target = written.name
        return WrittenFile(
            archive_file=name,
            folder="",
            written=written,
            sidecar_sha256=self._written.checksum(sidecar_name(written.name)),
            result=result,
        )

    def mapper_final(self) -> None:
        self.end_task()


if __name__ == "__main__":
    RecompressGenerationsJob.run()

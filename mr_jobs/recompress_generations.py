"""Files in the store to new generations in another compression, each by one map.

    python -m pinakes.mr_jobs.recompress_generations -r inline|local|hadoop --output-dir DIR
        --stored --form FORM LIST...

Each new generation is written to the output, below `_written/`, with its sidecar; publishing and
writing rows is left to the driver (`pinakes.acts.waves`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pinakes.acts.generations import Annotate, Check, Contents, InAnotherForm, as_it_was
from pinakes.acts.waves import WrittenFile, write_aside
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS, ArchiveJob
from pinakes.mr_jobs.form_options import add_form_options, form_of
from pinakes.mr_jobs.lines.outcome_lines import outcome_text
from pinakes.rewrite.file_parts import Bytes
from pinakes.rewrite.new_file import WRITTEN
from pinakes.rewrite.recompress import require_same
from pinakes.rewrite.recompress_file import Recompression, member_pieces
from pinakes.warc.source import Source


class RecompressGenerationsJob(ArchiveJob):
    """See the module."""

    JOBCONF = LINES_OF_MAPS
    WRITES_FILES = True

    def configure_args(self) -> None:
        super().configure_args()
        add_form_options(self)

    def mapper_init(self) -> None:
        super().mapper_init()
        self._form = form_of(self.options)
        self._written = self.task.files_written()

    def mapper(self, _: None, name: bytes) -> Iterator[tuple[None, bytes]]:
        file = name.decode("utf-8", "surrogateescape")
        self.task.count(FILES)
        generation = self.task.generation_of(file)
        parts = partial(self._parts, generation.name)
        outcome = write_aside(self.task.archive(), self._written, generation, parts)
        if isinstance(outcome, WrittenFile):
            outcome.made.target = outcome.written.name
        yield None, outcome_text(outcome, Recompression.as_json)

    def _parts(self, stored_name: str) -> tuple[Contents, Check, Annotate, Recompression]:
        result = Recompression(file=stored_name, target="", outcome=WRITTEN)

        def pieces(old: Source) -> Iterator[Bytes]:
            self.task.heartbeat.watch(lambda: old.position)
            result.bytes_before = old.size
            return member_pieces(old, self._form.form, result)

        def check(old: Source, new: Source) -> None:
            self.task.heartbeat.watch(lambda: old.position + new.position)
            result.content = require_same(old, new)

        return InAnotherForm(self._form.ending, pieces), check, as_it_was, result


if __name__ == "__main__":
    RecompressGenerationsJob.run()

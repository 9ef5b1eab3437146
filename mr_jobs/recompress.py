"""Files to files in another compression, each by one map: `pinakes zstd` as a job.

    python -m pinakes.mr_jobs.recompress -r inline|local|hadoop --output-dir DIR
        --to FOLDER --form FORM LIST...

Writes a line per file, as `pinakes zstd compress --json` and `decompress --json` print it.
"""

from __future__ import annotations

import json

from pinakes.mr_jobs.form_options import add_form_options, form_of
from pinakes.mr_jobs.new_file_job import NewFileJob, NewFileResult
from pinakes.rewrite.new_file import NewFiles
from pinakes.rewrite.recompress_file import TOO_LITTLE, recompress_source
from pinakes.warc.source import Source


class RecompressJob(NewFileJob):
    """See the module."""

    TARGET = "target"

    def configure_args(self) -> None:
        super().configure_args()
        add_form_options(self)
        self.add_passthru_arg("--min-file-saving", type=float, default=0.0, help="as the setting")

    def mapper_init(self) -> None:
        super().mapper_init()
        self._form = form_of(self.options).form

    @classmethod
    def target_of_line(cls, line: bytes) -> str | None:
        is_written = json.loads(line)["outcome"] != TOO_LITTLE
        return super().target_of_line(line) if is_written else None

    def make(self, source: Source, files: NewFiles) -> NewFileResult:
        def reads(written: Source) -> None:
            self.task.heartbeat.watch(lambda: source.position + written.position)

        least = self.options.min_file_saving
        result = recompress_source(
            source, source.name, self._form, files, min_saving=least, reads=reads
        )
        self.task.count("bytes before", result.bytes_before)
        self.task.count("bytes after", result.bytes_after)
        return result


if __name__ == "__main__":
    RecompressJob.run()

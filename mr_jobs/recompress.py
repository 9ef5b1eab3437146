"""Files to files in another compression, each by one map: `pinakes zstd` as a job.

    python -m pinakes.mr_jobs.recompress -r inline|local|hadoop --output-dir DIR
        --to FOLDER --form FORM LIST...

Writes a line per file, as `pinakes zstd compress --json` and `decompress --json` print it.
"""

from __future__ import annotations

from pinakes.mr_jobs.form_options import add_form_options, form_of
from pinakes.mr_jobs.new_file_job import NewFile, NewFileJob
from pinakes.rewrite.recompress_stored import recompress_stored
from pinakes.rewrite.stored_target import StoredTarget
from pinakes.warc.source import Source


class RecompressJob(NewFileJob):
    """See the module."""

    TARGET = "target"

    def configure_args(self) -> None:
        super().configure_args()
        add_form_options(self)

    def mapper_init(self) -> None:
        super().mapper_init()
        self._form = form_of(self.options)

    def make(self, source: Source, to: StoredTarget) -> NewFile:
        def reads(written: Source) -> None:
            self.task.heartbeat.watch(lambda: source.position + written.position)

        result = recompress_stored(source, self._form, to, reads=reads)
        self.task.count("bytes before", result.bytes_before)
        self.task.count("bytes after", result.bytes_after)
        return result


if __name__ == "__main__":
    RecompressJob.run()

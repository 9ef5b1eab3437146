"""ARC files to WARC files, each by one map: `pinakes convert --verify` as a job.

    python -m pinakes.mr_jobs.convert_arc -r inline|local|hadoop --output-dir DIR
        --to FOLDER LIST...

Writes a line per file, as `pinakes convert --json` prints it.
"""

from __future__ import annotations

from pinakes.mr_jobs.new_file_job import NewFile, NewFileJob
from pinakes.rewrite.convert_stored import convert_stored
from pinakes.rewrite.stored_target import StoredTarget
from pinakes.warc.source import Source


class ConvertArcJob(NewFileJob):
    """See the module."""

    TARGET = "warc"

    def make(self, source: Source, to: StoredTarget) -> NewFile:
        return convert_stored(source, to)


if __name__ == "__main__":
    ConvertArcJob.run()

"""ARC files to WARC files, each by one map: `pinakes convert --verify` as a job.

    python -m pinakes.mr_jobs.convert_arc -r inline|local|hadoop --output-dir DIR
        --to FOLDER LIST...

Writes a line per file, as `pinakes convert --json` prints it.
"""

from __future__ import annotations

from pinakes.mr_jobs.new_file_job import NewFileJob, NewFileResult
from pinakes.rewrite.convert_file import convert_source
from pinakes.rewrite.new_file import NewFiles
from pinakes.warc.source import Source


class ConvertArcJob(NewFileJob):
    """See the module."""

    TARGET = "warc"

    def make(self, source: Source, files: NewFiles) -> NewFileResult:
        return convert_source(source, source.name, files, verify=True)


if __name__ == "__main__":
    ConvertArcJob.run()

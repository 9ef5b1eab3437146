"""Archive files with their duplicates as revisits: `pinakes refs` as a job.

    python -m pinakes.mr_jobs.write_revisits -r inline|local|hadoop --output-dir DIR
        --to FOLDER DECIDED...

Reads the output of `flag_duplicates`.  A file without duplicates is not written.  Writes a line
for every other file, as `pinakes refs --json` prints it.
"""

from __future__ import annotations

import json
from functools import partial

from pinakes.dedupe.write.refs import RefsCount
from pinakes.dedupe.write.rewriting import rewrite_or_copy, rewrite_source
from pinakes.errors import InputRefused
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import text_line
from pinakes.mr_jobs.revisits_job import FileDuplicates, RevisitsJob
from pinakes.mr_jobs.writing_job import WritingJob


class WriteRevisitsJob(RevisitsJob, WritingJob):
    """See the module."""

    def duplicate(self, text: bytes) -> tuple[ManifestLine, bytes] | None:
        line = text_line(text)
        return (line, b"") if line.is_duplicate else None

    def write(self, name: str, duplicates: FileDuplicates) -> bytes | None:
        count = RefsCount()
        try:
            with self.task.opened(name) as source:
                rewrite_or_copy(
                    partial(rewrite_source, source, self.output_of(name, self.written)),
                    partial(
                        self.writer(duplicates).replacements, lines=duplicates.lines, count=count
                    ),
                    count,
                )
        except InputRefused as problem:
            self.task.find(problem)
            return None
        for left in count.problems:
            self.task.find(left)
        self.task.count("revisits", count.records)
        self.task.count("bytes saved", count.saved_bytes)
        for reason, amount in count.left_full.items():
            self.task.count(f"left full: {reason}", amount)
        return json.dumps({"file": name, **count.as_json()}).encode()


if __name__ == "__main__":
    WriteRevisitsJob.run()

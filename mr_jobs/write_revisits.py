"""Archive files with their duplicates as revisits: `pinakes refs` as a job.

    python -m pinakes.mr_jobs.write_revisits -r inline|local|hadoop --output-dir DIR
        --to FOLDER DECIDED...

Reads the output of `flag_duplicates`.  A file without duplicates is not written.  Writes a line
for every other file, as `pinakes refs --json` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import uuid4

from pinakes.dedupe.write.given_back import require_given_back, require_revisits
from pinakes.dedupe.write.refs import RefsCount
from pinakes.dedupe.write.rewriting import Check
from pinakes.dedupe.write.stored_rewriting import rewrite_stored
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import text_line
from pinakes.mr_jobs.revisits_job import Duplicates, RevisitsJob
from pinakes.mr_jobs.writing_job import WritingJob, mark_of
from pinakes.rewrite.replace import Replacement
from pinakes.warc.source import Source


class WriteRevisitsJob(RevisitsJob, WritingJob):
    """See the module."""

    def duplicate(self, text: bytes) -> tuple[ManifestLine, bytes] | None:
        line = text_line(text)
        return (line, b"") if line.is_duplicate else None

    def write(self, name: str, duplicates: Duplicates) -> bytes | None:
        count = RefsCount()
        try:
            with self.task.opened(name) as source:
                revisits = self.writer(duplicates).replacements(source, duplicates.lines, count)
                try:
                    self._rewrite(
                        name,
                        source,
                        revisits,
                        lambda old, new: require_revisits(old, new, count.take_bodies()),
                    )
                except DigestMismatch as problem:
                    count.keep_full(problem)
                    self._rewrite(name, source, (), require_given_back)
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

    def _rewrite(
        self, name: str, source: Source, replacements: Iterable[Replacement], check: Check
    ) -> None:
        rewrite_stored(
            source,
            replacements,
            self.task.folder(self.place),
            self.written,
            inside=mark_of(name),
            token=uuid4().hex,
            check=check,
        )


if __name__ == "__main__":
    WriteRevisitsJob.run()

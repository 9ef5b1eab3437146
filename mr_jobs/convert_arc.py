"""ARC files to WARC files, each by one map: `pinakes convert --verify` as a job.

    python -m pinakes.mr_jobs.convert_arc -r inline|local|hadoop --to FOLDER LIST...

Writes a line per file, as `pinakes convert --json` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from uuid import uuid4

from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, PinakesError
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS
from pinakes.mr_jobs.writing_job import WritingJob, mark_of
from pinakes.rewrite.convert_stored import convert_stored


class ConvertArcJob(WritingJob):
    """See the module."""

    JOBCONF = LINES_OF_MAPS

    @classmethod
    def target_of_line(cls, line: bytes) -> str:
        return PurePosixPath(json.loads(line)["warc"]).name

    def mapper_init(self) -> None:
        self.begin_task()
        self._folder = self.task.folder(self.place)
        self._written = self.task.files_written()

    def mapper(self, _: None, name: bytes) -> Iterator[tuple[None, bytes]]:
        file = name.decode("utf-8", "surrogateescape")
        self.task.count(FILES)
        try:
            with self.task.opened(file) as source:
                result = convert_stored(
                    source,
                    self._folder,
                    self._written,
                    place=self.place,
                    inside=mark_of(file),
                    token=uuid4().hex,
                )
        except (InputRefused, MalformedRecord, DigestMismatch) as problem:
            self.task.find(problem)
            return
        self.task.count(f"files {result.outcome}")
        for kind, amount in result.records.items():
            self.task.count(f"records: {kind}", amount)
        for stretch in result.stretches:
            self.task.find(PinakesError(stretch.message, file=file, offset=stretch.offset))
        yield None, json.dumps(result.as_json()).encode()

    def mapper_final(self) -> None:
        self.end_task()


if __name__ == "__main__":
    ConvertArcJob.run()

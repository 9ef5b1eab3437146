"""Files copied aside, read back and compared with a receipt: the middle of `commit_copy`.

    python -m pinakes.mr_jobs.copy_files -r inline|local|hadoop --output-dir DIR
        LIST...

LIST has lines `[NAME, SHA-256, PLACE]`; NAME is published below the task's output.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from uuid import uuid4

from pinakes.errors import DigestMismatch, InputRefused
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS, ArchiveJob


class CopyFilesJob(ArchiveJob):
    """See the module."""

    JOBCONF = LINES_OF_MAPS
    WRITES_FILES = True

    @classmethod
    def files_of_line(cls, line: str) -> Iterable[str]:
        return map(str, json.loads(line)[2:])

    def mapper_init(self) -> None:
        super().mapper_init()
        self._written = self.task.files_written()

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        name, sha256, place = json.loads(line)
        self.task.count(FILES)
        try:
            with (
                self.task.opened(place) as source,
                self._written.create_aside(uuid4().hex) as aside,
            ):
                for piece in source.pieces(0, source.size):
                    aside.file.write(piece)
                source.check_unchanged()
                if aside.checksum() != sha256:
                    self.task.find(
                        DigestMismatch("what was written reads back as other bytes", file=name)
                    )
                    return
                aside.publish(name)
                self.task.count("files copied")
        except InputRefused as problem:
            self.task.find(problem)
            return
        yield None, json.dumps(name).encode()


if __name__ == "__main__":
    CopyFilesJob.run()

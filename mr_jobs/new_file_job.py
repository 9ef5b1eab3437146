"""The base of jobs whose maps make a new file of each: verified, or the input is a finding."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Protocol

from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, PinakesError
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_MAPS
from pinakes.mr_jobs.writing_job import WritingJob
from pinakes.rewrite.new_file import NewFiles
from pinakes.warc.record import Finding
from pinakes.warc.source import Source


class NewFileResult(Protocol):
    """What a job reports of a new file."""

    @property
    def outcome(self) -> str: ...
    @property
    def records(self) -> Mapping[str, int]: ...
    @property
    def stretches(self) -> Sequence[Finding]: ...
    def as_json(self) -> dict[str, Any]: ...


class NewFileJob(WritingJob):
    """Writes a line per file, as the verb prints it with `--json`."""

    JOBCONF = LINES_OF_MAPS
    TARGET: str
    """What a line has the new file under."""

    @abstractmethod
    def make(self, source: Source, files: NewFiles) -> NewFileResult:
        """Write the new file of one; `Raises` InputRefused, MalformedRecord, DigestMismatch."""

    @classmethod
    def target_of_line(cls, line: bytes) -> str | None:
        return PurePosixPath(json.loads(line)[cls.TARGET]).name

    def mapper_init(self) -> None:
        super().mapper_init()
        self._written = self.task.files_written()

    def mapper(self, _: None, name: bytes) -> Iterator[tuple[None, bytes]]:
        file = name.decode("utf-8", "surrogateescape")
        self.task.count(FILES)
        try:
            with self.task.opened(file) as source:
                result = self.make(source, self.output_of(file, self._written))
        except (InputRefused, MalformedRecord, DigestMismatch) as problem:
            self.task.find(problem)
            return
        self.task.count(f"files {result.outcome}")
        for kind, amount in result.records.items():
            self.task.count(f"records: {kind}", amount)
        for stretch in result.stretches:
            self.task.find(PinakesError(stretch.message, file=file, offset=stretch.offset))
        yield None, json.dumps(result.as_json()).encode()

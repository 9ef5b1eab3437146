"""What an act on a store has tasks do with its files: a job each, below the act's folder aside.

.landing/ACT/WAVE/out       one outcome per file of a wave; `_written/…`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pinakes.acts.act import Act
from pinakes.acts.waves import FileOutcome
from pinakes.config import Configuration
from pinakes.mr_jobs.archive_job import WRITTEN
from pinakes.mr_jobs.driver.orphans import end_orphans
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.mr_jobs.lines.outcome_lines import text_outcome
from pinakes.mr_jobs.writing_job import tags
from pinakes.profile import open_folder

Made = TypeVar("Made")
_OUT = "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActTasks(ABC, Generic[Made]):
    """The jobs of an act; ends those that a dead driver of it has left running.

    `runner` is `inline`, `local` or `hadoop`.  `around(name)` is entered during each job; the
    function it yields is called with the progress.  Not for several threads.
    """

    act: Act
    configuration: Configuration
    runner: str
    around: Callable[[str], AbstractContextManager[Callable[[float], None]]] = lambda job: (
        nullcontext(lambda percent: None)
    )

    def __post_init__(self) -> None:
        if self.act.is_resumed and self.runner == "hadoop":
            end_orphans(self.act.name, self.configuration)

    @staticmethod
    @abstractmethod
    def decode(fields: Mapping[str, Any]) -> Made:
        """What a task reports of a file."""

    @property
    def place(self) -> str:
        """The act's folder aside."""
        return self.act.archive.folder_aside(self.act.name)

    def output_of(self, wave: str) -> str:
        """The folder of what tasks write of a wave."""
        return f"{self.place}/{wave}/{_OUT}"

    def outcomes(self, wave: str) -> Iterator[FileOutcome[Made]]:
        """See `pinakes.acts.waves.Tasks`."""
        for line in self.lines(self.output_of(wave)):
            yield text_outcome(line, f"{wave}/{_OUT}/{WRITTEN}", self.decode)

    def run(self, request: JobRequest) -> JobReport:
        """Run a job to its end."""
        options = (*tags(self.act.name, self.runner), *request.options)
        request = replace(request, options=options)
        with self.around(request.job.__module__.rpartition(".")[2]) as on_percent:
            return run_job(request, self.runner, self.configuration, None, on_percent=on_percent)

    def lines(self, place: str, start: str = "part-") -> Iterator[bytes]:
        """The lines of the files in a folder whose names begin with `start`: a job's output."""
        with open_folder(place, self.configuration) as folder:
            for stored in folder.list():
                if stored.name.startswith(start):
                    with folder.open(stored.name) as file:
                        yield from (line.removesuffix(b"\n") for line in file)

"""The base of all jobs over archive files: lines as bytes, stores, a heartbeat, findings.

A task writes only its output: lines to standard output, and files below the folder of its attempt
(`mapreduce.task.output.dir`), which the framework commits for one attempt.  So two attempts at a
task do no harm.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, TypeVar, cast
from uuid import uuid4

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration, load_configuration
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused, PinakesError
from pinakes.hbase_schema.generation_names import Generation, generation_of
from pinakes.mr_jobs.extra import BytesProtocol, BytesValueProtocol, MRJob, jobconf_from_env
from pinakes.mr_jobs.given import JobInputs
from pinakes.mr_jobs.heartbeat import Heartbeat
from pinakes.mr_jobs.lines.problems import problem_text
from pinakes.mr_jobs.places import STORE, OpenPlaces, read_generations, split_name
from pinakes.profile import Stores, open_folder, open_stores
from pinakes.warc.opening import open_source
from pinakes.warc.source import Source

T = TypeVar("T")
Work = Callable[..., Any]
GROUP = "pinakes"
PROBLEMS = "problems: "
FINDINGS = "findings"
WRITTEN = "_written"
"""The folder, in a job's output, of the archive files that its tasks have written."""

FOUND = "found"
"""Counts lines that report errors or discrepancies."""

FILES = "files read"
LINES = "lines read"
LINES_OF_MAPS = {"stream.map.output": "keyonlytext"}
"""For maps without a reduce step: else Hadoop appends a tab to each line."""

LINES_OF_REDUCES = {"stream.reduce.output": "keyonlytext"}
"""The same for the last reduce step."""


class PairProtocol(BytesProtocol):  # type: ignore[misc]
    """Key and value separated by a tab; neither contains one."""

    def read(self, line: bytes) -> tuple[bytes, bytes | None]:
        # When sorted by key and value, the whole line is Hadoop's key, followed by a tab.
        key, value = super().read(line)
        return key, value.removesuffix(b"\t") if value is not None else None


class ArchiveJob(MRJob):  # type: ignore[misc]
    """A job whose lines are bytes, with a tab between key and value."""

    INPUT_PROTOCOL = BytesValueProtocol
    INTERNAL_PROTOCOL = PairProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol

    AGAIN: str | None = None
    """The name under which tasks keep lines for another run, if the job has any."""

    ROUND_OPTION = ""
    """The option with the number of the round, from 1, for a run over such lines."""

    INPUT_COUNTER = FILES
    """The counter of inputs read: `FILES`, if they are archive files, or `LINES`."""

    EXTRAS: tuple[str, ...] = ("jobs", "cluster")
    """Of Pinakes, that its tasks need."""

    MEMORY_MB = 1024
    """YARN's memory limit of a task, for all its processes including its JVM."""

    WRITES_FILES = False
    """Whether its tasks write archive files, into its output."""

    options: Namespace
    task: TaskAttempt

    @classmethod
    def run(cls) -> None:
        """Run it from a shell, where relative paths begin in this folder; or a task of such a job,
        for which the driver's `--folder` comes later, and wins."""
        sys.argv[1:1] = ["--folder", os.getcwd()]
        super().run()

    def run_job(self) -> None:
        """As mrjob; refused where files would be deleted with the temporary output."""
        if self.WRITES_FILES and self.options.output_dir is None:
            self.arg_parser.error("give --output-dir: this job writes files, which stay there")
        super().run_job()

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        place = self.options.output_dir
        if place is not None and "://" not in place and self.options.runner != "hadoop":
            # Tasks work elsewhere.
            self.options.output_dir = os.path.abspath(place)

    @classmethod
    def input_lines(cls, given: JobInputs, configuration: Configuration) -> list[str]:
        """The lines that its maps read, from the operator's inputs: here the inputs themselves."""
        return list(given.inputs)

    @classmethod
    def files_of_line(cls, line: str) -> Iterable[str]:
        """The archive files of an input line: here the line itself."""
        return (line,)

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg(
            "--settings", help="the configuration, as pinakes.toml: how stores are reached"
        )
        self.add_passthru_arg(
            "--stored",
            action="store_true",
            help="names are those of files in the store, and neither paths nor hdfs://…",
        )
        self.add_file_arg(
            "--generations",
            help="with --stored: lines of a name, a tab, and the stored file that is read for it",
        )
        self.add_passthru_arg(
            "--folder", default="", help="where relative paths begin: tasks work elsewhere"
        )

    def begin_task(self) -> None:
        """Open `task` for a mapper or reducer; for its `init`."""
        file = Path(self.options.settings) if self.options.settings is not None else None
        # The environment and the files of the task's host are ignored.
        configuration = load_configuration(file, environment={}, folder=Path("/"))
        self.task = TaskAttempt(self, configuration)
        self.task.__enter__()

    def end_task(self) -> None:
        """Write everything and close it; for its `final`."""
        self.task.__exit__(None, None, None)

    def mapping(
        self, mapper: Work, begin: Callable[[], None] | None = None, end: Work | None = None
    ) -> dict[str, Work]:
        """Words for an `MRStep` whose tasks map, in an open task; `begin` and `end` do more."""
        init, final = begin or self.begin_task, end or self.end_task
        return {"mapper_init": init, "mapper": mapper, "mapper_final": final}

    def reducing(
        self, reducer: Work, begin: Callable[[], None] | None = None, end: Work | None = None
    ) -> dict[str, Work]:
        """The same for tasks that reduce."""
        init, final = begin or self.begin_task, end or self.end_task
        return {"reducer_init": init, "reducer": reducer, "reducer_final": final}

    def mapper_init(self) -> None:
        """Of a job without steps of its own."""
        self.begin_task()

    def mapper_final(self) -> None:
        """The same."""
        self.end_task()


class TaskAttempt:
    """One attempt at a task; a context manager.  Not for several threads."""

    def __init__(self, job: ArchiveJob, configuration: Configuration) -> None:
        self._job = job
        self._configuration = configuration
        self._stored = bool(job.options.stored)
        self._folder = Path(job.options.folder)
        self._generations = read_generations(job.options.generations)
        self._stack = ExitStack()
        self._places = OpenPlaces(configuration)
        self._counts: Counter[str] = Counter()
        self._kept: dict[str, IO[bytes]] = {}
        self.heartbeat = Heartbeat(job.set_status)

    def __enter__(self) -> TaskAttempt:
        self._stack.enter_context(self._places)
        self._stack.enter_context(self.heartbeat)
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        with self._stack:
            if kind is not None:
                return
            for name, lines in self._kept.items():
                self._publish(name, lines)
            for name, amount in self._counts.items():
                self._job.increment_counter(GROUP, name, amount)

    def enter(self, context: AbstractContextManager[T]) -> T:
        """Enter a context that is closed at the end of the task."""
        return self._stack.enter_context(context)

    @contextmanager
    def opened(self, name: str) -> Iterator[Source]:
        """An archive file, by its name in the store, its path or its hdfs:// URL."""
        with self._open(name) as source:
            self.heartbeat.watch(lambda: source.position)
            yield source

    @contextmanager
    def _open(self, name: str) -> Iterator[Source]:
        where = split_name(name, stored=self._stored)
        if where is None:
            with ExitStack() as stack:
                try:
                    source = stack.enter_context(open_source(self._folder / name))
                except InputRefused as refusal:
                    refusal.file = name  # as it was given
                    raise
                source.name = name
                yield source
            return
        place, base = where
        if place == STORE:
            base = self.generation_of(name).name
        with self._places.store(place).open(base) as file:
            yield Source(file, name=name)

    def generation_of(self, name: str) -> Generation:
        """The generation of an archive file that is read."""
        return generation_of(self._generations.get(name, name))

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a counter of the job; it is reported to the framework once, at the end."""
        self._counts[name] += amount

    def find(self, problem: PinakesError) -> None:
        """Count an error by its class, and keep its message for the report."""
        self.count(f"{PROBLEMS}{type(problem).__name__}")
        self.keep(FINDINGS, problem_text(problem))

    def keep(self, name: str, line: bytes) -> None:
        """Keep a line next to the output, in `_NAME-…`, which later jobs do not read as input."""
        if name not in self._kept:
            self._kept[name] = self.enter(
                TemporaryFile(prefix="pinakes-")  # noqa: SIM115 (entered)
            )
        self._kept[name].write(line + b"\n")

    def files_written(self) -> ArchiveStore:
        """Where archive files are published, in `WRITTEN` of the output; open to the end."""
        return self.enter(open_folder(f"{_output_folder()}/{WRITTEN}", self._configuration))

    def archive(self) -> ArchiveStore:
        """The store's archive files, open to the end of the task."""
        return self._places.store(STORE)

    def stores(self) -> Stores:
        """Rows and archive files of the store, open to the end of the task."""
        return self.enter(open_stores(self._configuration))

    def folder(self, name: str) -> ArchiveStore:
        """A folder named by the operator, a path or hdfs://…; open to the end of the task."""
        return self._places.store(name if "://" in name else str(self._folder / name))

    def _publish(self, name: str, lines: IO[bytes]) -> None:
        task = jobconf_from_env("mapreduce.task.id")
        with open_folder(_output_folder(), self._configuration) as output:
            kept = cast("BinaryIO", lines)
            publish_copy(output, kept, f"_{name}-{task}.jsonl", token=uuid4().hex)


def _output_folder() -> str:
    return str(jobconf_from_env("mapreduce.task.output.dir"))


class TaskFiles(ArchiveFiles):
    """Archive files by name, opened as a task opens them."""

    def __init__(self, task: TaskAttempt) -> None:
        super().__init__()
        self._task = task

    def _enter(self, name: str, stack: ExitStack) -> Source:
        return stack.enter_context(self._task.opened(name))

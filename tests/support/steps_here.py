"""The steps of a job in this process, with next to nothing around its mappers and reducers.

mrjob's runner "inline" parses its two hundred options anew for every task, and lays out folders,
files and links around each: of a run over a few lines that is nine tenths.  Here one parsed job
is copied for each task, and lines go from task to task in memory, as on Hadoop:

    inputs ─▶ splits ─▶ mappers ─▶ by hash of the key, each sorted by its bytes ─▶ reducers ─▶ …

    with steps_here(tasks=6):
        main(["process", "--runner", "inline", …])

Whatever asks for "inline" gets that; the driver, with its rounds, counters and findings, is the
one of every run.  `by_mrjob` is the same for mrjob's own: some of every test go that way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from unittest.mock import patch
from zlib import crc32

from pinakes.mr_jobs.extra import MRJob  # first: it has what mrjob misses in newer Pythons

# isort: split
from mrjob.inline import InlineMRJobRunner
from mrjob.parse import parse_mr_job_stderr
from mrjob.util import save_current_environment, save_cwd

TASKS = 4
Lines = list[bytes]

INLINE = ("--runner", "inline")
LOCAL = ("--runner", "local")
RUNNERS = {
    "here": INLINE,
    "inline": INLINE,
    "local": LOCAL,
    # One process after the other, and two of each kind, for each takes half a second to begin.
    "local in turn": (*LOCAL, "--options=--num-cores 1"),
}


@contextmanager
def run_by(name: str) -> Iterator[Sequence[str]]:
    """Words for a verb, whose job runs by mrjob's runner of this name or, with "here", here."""
    with by_mrjob() if name == "inline" else steps_here():
        yield RUNNERS[name]


@contextmanager
def steps_here(*, tasks: int = TASKS) -> Iterator[None]:
    """In place of mrjob's runner "inline": about so many maps, and so many reducers a step."""
    make_other = MRJob.make_runner
    runs = count(1)

    def make_runner(job: MRJob) -> object:
        if job.options.runner == InlineMRJobRunner.alias:
            return RunnerHere(job, tasks=tasks, key=f"here_{next(runs):04d}")
        return make_other(job)

    with patch.object(MRJob, "make_runner", make_runner):
        yield


@contextmanager
def by_mrjob(*, tasks: int = TASKS) -> Iterator[None]:
    """mrjob's own: up to so many maps, and so many reducers a step, one behind the other."""
    with patch.object(InlineMRJobRunner, "_num_cores", return_value=tasks // 2):
        yield


class RunnerHere:
    """What the driver asks of a runner."""

    def __init__(self, job: MRJob, *, tasks: int, key: str) -> None:
        self._job = job
        self._tasks = tasks
        self._key = key
        self._paths: list[str] = job.options.args
        # A task reads what it is given, and not the inputs of the job.
        self._options = copy(job.options)
        self._options.args = []
        self._counters: list[dict[str, dict[str, int]]] = []

    def __enter__(self) -> RunnerHere:
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(TemporaryDirectory(prefix="steps-here-")))
            self._stack = stack.pop_all()
        self._output = Path(self._options.output_dir or self._folder / "output")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self) -> None:
        """All steps; what the last one writes are files in the output, one a task."""
        lines = [*_splits(self._paths, self._tasks)]
        steps = [step.description(number) for number, step in enumerate(self._job.steps())]
        with save_current_environment(), save_cwd():
            # Tasks work where none of their files are, in an environment as Hadoop sets it.
            os.chdir(self._folder)
            os.environ[_variable("mapreduce.job.reduces")] = str(self._tasks)
            for number, step in enumerate(steps):
                # Only what is kept beside the output of the last one will be found.
                is_last = number == len(steps) - 1
                output = self._output if is_last else self._folder / f"step-{number}"
                output.mkdir(parents=True)
                os.environ[_variable("mapreduce.task.output.dir")] = str(output)
                self._counters.append({})
                if "mapper" in step:
                    lines = self._run_tasks("mapper", number, lines)
                assert "combiner" not in step
                if "reducer" in step:
                    reduced = _partitions(lines, self._tasks, sort_values=self._job.sort_values())
                    lines = self._run_tasks("reducer", number, reduced)
        for number, part in enumerate(lines):
            (self._output / f"part-{number:05d}").write_bytes(_text(part))

    def counters(self) -> list[dict[str, dict[str, int]]]:
        return self._counters

    def get_output_dir(self) -> str:
        return str(self._output)

    def cat_output(self) -> Iterator[bytes]:
        for path in sorted(self._output.glob("part-*")):
            yield path.read_bytes()

    def _run_tasks(self, kind: str, step: int, inputs: Sequence[Lines]) -> list[Lines]:
        outputs = []
        for number, lines in enumerate(inputs):
            task = copy(self._job)
            task.options = self._options
            task.sandbox(stdin=[line + b"\n" for line in lines])
            os.environ[_variable("mapreduce.task.id")] = (
                f"task_{self._key}_{kind}_{step:04d}{number}"
            )
            (task.run_mapper if kind == "mapper" else task.run_reducer)(step)
            parse_mr_job_stderr(task.stderr.getvalue(), self._counters[step])
            outputs.append(_lines(task.stdout.getvalue()))
        return outputs


def _variable(name: str) -> str:
    """What of a job's settings is called so in the environment of a task."""
    return name.replace(".", "_")


def _splits(paths: Sequence[str], tasks: int) -> Iterator[Lines]:
    """Stretches of each file; of an empty one, one that is empty."""
    pieces = max(1, tasks // len(paths))
    for path in paths:
        lines = _lines(Path(path).read_bytes())
        size = max(1, -(-len(lines) // pieces))
        for start in range(0, max(1, len(lines)), size):
            yield lines[start : start + size]


def _partitions(outputs: Sequence[Lines], tasks: int, *, sort_values: bool) -> list[Lines]:
    """What each reducer reads; there are as many as were asked for, whatever comes to them."""
    partitions: list[Lines] = [[] for _ in range(tasks)]
    for lines in outputs:
        for line in lines:
            partitions[crc32(_key(line)) % tasks].append(line)
    for lines in partitions:
        lines.sort(key=None if sort_values else _key)
    if sort_values:
        # All of the line is Hadoop's key then: a tab stands behind it, and there is no value.
        return [[line + b"\t" for line in lines] for lines in partitions]
    return partitions


def _key(line: bytes) -> bytes:
    return line.partition(b"\t")[0]


def _lines(text: bytes) -> Lines:
    *lines, rest = text.split(b"\n")
    return [*lines, rest] if rest else lines


def _text(lines: Lines) -> bytes:
    return b"".join(line + b"\n" for line in lines)

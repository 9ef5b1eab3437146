"""A job as the `hadoop jar …` line that does the same: for those who submit by other means."""

from __future__ import annotations

from typing import Any

from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.mr_jobs.driver.submission import require_streaming_jar
from pinakes.mr_jobs.extra import cmd_line  # first: it names the extra where mrjob is missing

# isort: split
from mrjob.hadoop import HadoopJobRunner


class _PrintedRunner(HadoopJobRunner):  # type: ignore[misc]
    """Uploads what the job needs, and writes down what it would call."""

    lines: tuple[str, ...] = ()

    def _run_job_in_hadoop(self) -> None:
        words: list[list[Any]] = [self._args_for_step(step) for step in range(self._num_steps())]
        self.lines = tuple(cmd_line(step) for step in words)


def hadoop_lines(job: ArchiveJob) -> tuple[str, ...]:
    """A line for each step, in order; what they name in HDFS is there, and stays."""
    with _PrintedRunner(**job._runner_kwargs()) as runner:
        require_streaming_jar(runner)
        runner.run()
        lines: tuple[str, ...] = runner.lines
        return lines

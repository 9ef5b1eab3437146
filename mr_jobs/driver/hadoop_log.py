"""What Hadoop says of a job while it runs, and what its tasks have said when it failed."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from pinakes.config import Configuration
from pinakes.errors import PinakesError, StoreUnavailable
from pinakes.hadoop_tools import parse_command, run_tool
from pinakes.mr_jobs.extra import MRStep

_PERCENT = re.compile(r"\bmap (\d+)% +reduce (\d+)%")
_APPLICATION = re.compile(r"\bapplication_\d+_\d+\b")
_BEGUN = "Running job: job_"
_OURS = f"{PinakesError.__module__}."
_CAUSE = "Probable cause of failure:"
_LOG_BYTES = 4096
_QUOTED_LINES = 12
_ATTEMPTS = 10
_PAUSE_S = 3.0


class HadoopLog(logging.Handler):
    """Hears what mrjob and Hadoop say: how far it is, and which application it is."""

    def __init__(self, on_percent: Callable[[float], None], steps: Sequence[MRStep]) -> None:
        super().__init__(logging.INFO)
        self._reduces = ["reducer" in step.description(n) for n, step in enumerate(steps)]
        self._step = -1
        self._on_percent = on_percent
        self.application: str | None = None
        self.cause: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if _BEGUN in text:
            self._step += 1
        if _CAUSE in text:  # what mrjob's other runners say of a task
            self.cause = text.partition(_CAUSE)[2]
        done = _PERCENT.search(text)
        if done and 0 <= self._step < len(self._reduces):
            mapped, reduced = int(done[1]), int(done[2])
            percent = (mapped + reduced) / 2 if self._reduces[self._step] else mapped
            self._on_percent((100 * self._step + percent) / len(self._reduces))
        application = _APPLICATION.search(text)
        if application:
            self.application = application[0]


@contextmanager
def heard(on_percent: Callable[[float], None], steps: Sequence[MRStep]) -> Iterator[HadoopLog]:
    """Listen for the length of a `with`; `on_percent` is called for all steps together."""
    logger = logging.getLogger("mrjob")
    log = HadoopLog(on_percent, steps)
    before = logger.level, logger.propagate
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield log
    finally:
        logger.removeHandler(log)
        logger.level, logger.propagate = before


def why_failed(reason: str, log: HadoopLog, configuration: Configuration) -> str:
    """One sentence, and the end of the log of a task that failed, where it can be had."""
    if log.application is None:
        return (
            f"the job failed: {_last_words(log.cause)}"
            if log.cause
            else f"the job failed: {reason}"
        )
    failed = f"the job failed ({log.application})"
    try:
        said = _logs_of(log.application, configuration)
    except PinakesError as error:
        return f"{failed}, and its logs cannot be had: {error}"
    return f"{failed}: {_last_words(said)}"


def _last_words(said: str) -> str:
    """The last error of ours in a log; else the end of its first traceback, or of the log."""
    lines = [line for line in said.splitlines() if line.strip()]
    ours = [line.partition(": ")[2] for line in lines if line.startswith(_OURS)]
    if ours:
        return ours[-1]
    traces = [number for number, line in enumerate(lines) if line.startswith("Traceback")]
    if traces:
        lines = lines[traces[0] :]
        end = next((n for n, line in enumerate(lines[1:], 1) if not line.startswith(" ")), 0)
        lines = lines[: end + 1]
    return "\n".join(lines[-_QUOTED_LINES:])


def _logs_of(application: str, configuration: Configuration) -> str:
    """The ends of its tasks' standard errors; they are gathered only after its end."""
    command = [
        *parse_command(configuration.hadoop_command),
        *("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId"),
        *(application, "-log_files", "stderr", "-size", str(-_LOG_BYTES)),
    ]
    for _ in range(_ATTEMPTS):
        with suppress(StoreUnavailable):
            said = run_tool(command)
            if said.strip():
                return said
        time.sleep(_PAUSE_S)
    return run_tool(command)

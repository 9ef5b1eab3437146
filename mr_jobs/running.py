"""Running one job to its end: inputs packed and listed, progress, counters, findings.

names ─▶ packs ─▶ lists ─▶ mrjob (inline, local, hadoop) ─▶ lines, counters, findings
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from uuid import uuid4

from mrjob.step import StepFailedException

from pinakes.config import Configuration
from pinakes.errors import InputRefused, PinakesError, StoreUnavailable
from pinakes.hadoop_tools import parse_command, run_tool
from pinakes.mr_jobs.archive_job import FILES, FINDINGS, GROUP, ArchiveJob
from pinakes.mr_jobs.packing import PACK_BYTES, pack_files
from pinakes.mr_jobs.submission import hadoop_arguments, job_folder, write_settings
from pinakes.profile import open_archive, open_folder

RUNNERS = ("inline", "local", "hadoop")
LISTS = "lists"
_PERCENT = re.compile(r"\bmap (\d+)% +reduce (\d+)%")
_APPLICATION = re.compile(r"\bapplication_\d+_\d+\b")
_LOG_BYTES = 4096
_QUOTED_LINES = 12


@dataclass(slots=True)
class JobReport:
    """What a job did: its own counters, and what it found wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[PinakesError] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What to run on what: `options` are the job's own, `stored` says that names are those of
    files in the store."""

    job: type[ArchiveJob]
    names: Sequence[str]
    options: Sequence[str] = ()
    stored: bool = False
    pack_bytes: int = PACK_BYTES


def run_job(
    request: JobRequest,
    runner: str,
    configuration: Configuration,
    out: BinaryIO,
    *,
    on_percent: Callable[[float], None] = lambda percent: None,
) -> JobReport:
    """Run it, write its lines to `out`, and report.

    Raises:
        StoreUnavailable: where it failed, quoting the end of a failed task's log; nothing
            has been written to `out` then.
        PinakesError: where its counters show that inputs were not read.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="pinakes-job-")))
        settings = write_settings(configuration, folder)
        arguments = ["--settings", str(settings), *request.options]
        if request.stored:
            arguments.append("--stored")
        has_reducer = request.job.reducer is not ArchiveJob.reducer
        watch = stack.enter_context(_watched(on_percent, has_reducer=has_reducer))
        if runner == "hadoop":
            arguments += hadoop_arguments(configuration)
        else:
            arguments += ["--runner", runner, "--no-conf"]
        lists = stack.enter_context(_listed(request, runner, configuration, folder))
        job = request.job(args=[*arguments, *lists])
        mrjob = stack.enter_context(job.make_runner())
        try:
            mrjob.run()
        except StepFailedException as error:
            raise StoreUnavailable(_why(str(error), watch, configuration)) from error
        report = JobReport()
        for step in mrjob.counters():
            report.counts.update(step.get(GROUP, {}))
        _require_all_read(report, request)
        report.findings = list(_findings(mrjob.get_output_dir(), configuration))
        out.writelines(mrjob.cat_output())
        return report


def _require_all_read(report: JobReport, request: JobRequest) -> None:
    if report.counts[FILES] != len(request.names):
        raise PinakesError(
            f"{report.counts[FILES]:,} of {len(request.names):,} files were read, by the job's own "
            "counters: its output is not to be used"
        )


# --- inputs


@contextmanager
def _listed(
    request: JobRequest, runner: str, configuration: Configuration, folder: Path
) -> Iterator[list[str]]:
    """The packs, each as a file of names; where the runner's tasks find them."""
    for name in request.names:
        if "\n" in name:
            raise InputRefused("a name with a line end in it cannot be listed", file=name)
    packs = pack_files(
        zip(request.names, _sizes(request, configuration), strict=True),
        pack_bytes=request.pack_bytes,
    )
    if runner != "hadoop":
        yield [str(path) for path in _write_lists(packs, folder)]
        return
    place = f"{job_folder(configuration)}/{LISTS}/{uuid4().hex}"
    with open_folder(place, configuration) as lists:
        written = []
        try:
            for number, text in enumerate(map(_list_text, packs)):
                name = f"{number:06d}"
                with lists.create_aside(uuid4().hex) as aside:
                    aside.file.write(text)
                    aside.publish(name)
                written.append(name)
            yield [f"{place}/{name}" for name in written]
        finally:
            for name in written:
                lists.delete(name)


def _write_lists(packs: Iterable[list[str]], folder: Path) -> Iterator[Path]:
    for number, pack in enumerate(packs):
        path = folder / f"{number:06d}"
        path.write_bytes(_list_text(pack))
        yield path


def _list_text(pack: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in pack).encode("utf-8", "surrogateescape")


def _sizes(request: JobRequest, configuration: Configuration) -> Iterator[int]:
    """The size of each input in bytes; 0 for what is not there: its map will say so."""
    with ExitStack() as stack:
        known: dict[str, Mapping[str, int]] = {}
        for name in request.names:
            if not request.stored and "://" not in name:
                yield os.path.getsize(name) if os.path.isfile(name) else 0
                continue
            place, _, base = ("", "", name) if request.stored else name.rpartition("/")
            if place not in known:
                opened = open_folder(place, configuration) if place else open_archive(configuration)
                files = stack.enter_context(opened)
                known[place] = {stored.name: stored.size for stored in files.list()}
            yield known[place].get(base, 0)


# --- what it says


class _Watch(logging.Handler):
    """Hears what mrjob and Hadoop say: how far it is, and which application it is."""

    def __init__(self, on_percent: Callable[[float], None], *, has_reducer: bool) -> None:
        super().__init__(logging.INFO)
        self._has_reducer = has_reducer
        self._on_percent = on_percent
        self.application: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        done = _PERCENT.search(text)
        if done:
            mapped, reduced = int(done[1]), int(done[2])
            self._on_percent((mapped + reduced) / 2 if self._has_reducer else mapped)
        application = _APPLICATION.search(text)
        if application:
            self.application = application[0]


@contextmanager
def _watched(on_percent: Callable[[float], None], *, has_reducer: bool) -> Iterator[_Watch]:
    logger = logging.getLogger("mrjob")
    watch = _Watch(on_percent, has_reducer=has_reducer)
    before = logger.level, logger.propagate
    logger.addHandler(watch)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield watch
    finally:
        logger.removeHandler(watch)
        logger.level, logger.propagate = before


def _why(reason: str, watch: _Watch, configuration: Configuration) -> str:
    if watch.application is None:
        return f"the job failed: {reason}"
    text = f"the job failed ({watch.application})"
    try:
        log = run_tool(
            [
                *parse_command(configuration.hadoop_command),
                *("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId"),
                *(watch.application, "-log_files", "stderr", "-size", str(-_LOG_BYTES)),
            ]
        )
    except PinakesError as error:
        return f"{text}, and its logs cannot be had: {error}"
    lines = [line for line in log.splitlines() if line.strip()]
    traces = [number for number, line in enumerate(lines) if line.startswith("Traceback")]
    if traces:
        lines = lines[traces[0] :]
        end = next((n for n, line in enumerate(lines[1:], 1) if not line.startswith(" ")), 0)
        lines = lines[: end + 1]
    return f"{text}:\n" + "\n".join(lines[-_QUOTED_LINES:])


def _findings(place: str, configuration: Configuration) -> Iterator[PinakesError]:
    import pinakes.errors as classes

    with open_folder(place, configuration) as output:
        for stored in output.list():
            if not stored.name.startswith(f"_{FINDINGS}-"):
                continue
            with output.open(stored.name) as lines:
                for line in lines:
                    found = json.loads(line)
                    cls = getattr(classes, found["class"])
                    yield cls(found["message"], file=found["file"], offset=found["offset"])

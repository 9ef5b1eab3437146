"""Running one job to its end: inputs packed and listed, progress, counters, findings.

names ─▶ packs ─▶ lists ─▶ mrjob (inline, local, hadoop) ─▶ lines, counters, findings
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, BinaryIO
from uuid import uuid4

from pinakes.config import Configuration
from pinakes.dedupe.decide.counting import Collision
from pinakes.errors import ConfigError, PinakesError, StoreUnavailable
from pinakes.mr_jobs.archive_job import (
    FILES,
    FINDINGS,
    GROUP,
    LINES,
    LINES_OF_MAPS,
    PROBLEMS,
    ArchiveJob,
)
from pinakes.mr_jobs.driver.hadoop_log import heard, why_failed
from pinakes.mr_jobs.driver.listing import (
    PACK_BYTES,
    lines_bytes,
    lists_in_hdfs,
    packed,
    reduces_for,
    write_lists,
)
from pinakes.mr_jobs.driver.orphans import tied_workers
from pinakes.mr_jobs.driver.submission import (
    hadoop_arguments,
    job_folder,
    require_streaming_jar,
    write_settings,
)
from pinakes.mr_jobs.extra import StepFailedException
from pinakes.mr_jobs.lines.collisions import COLLISIONS, merge_collisions
from pinakes.mr_jobs.lines.problems import text_problem
from pinakes.mr_jobs.places import write_generations
from pinakes.profile import open_folder


@dataclass(slots=True)
class JobReport:
    """What a job did: its own counters, and what it found wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[PinakesError] = field(default_factory=list)
    collisions: list[Collision] = field(default_factory=list)
    """One for each digest, in however many tasks and rounds it was seen."""
    outputs: list[str] = field(default_factory=list)
    """The folders that were asked to be kept, one for each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What to run on what: `options` are the job's own, `stored` says that names are those of
    files in the store."""

    job: type[ArchiveJob]
    names: Sequence[str]
    options: Sequence[str] = ()
    stored: bool = False
    generations: Mapping[str, str] = field(default_factory=dict)
    """Of stored files, those that are not to be read as they landed."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What each task gets as a file, by the option that says where; `options` name its sum."""
    pack_bytes: int = PACK_BYTES
    output: str | None = None
    """A path, or `hdfs://…` for hadoop, where nothing is: what the job writes stays there.
    None: it is deleted."""


def run_job(
    request: JobRequest,
    runner: str,
    configuration: Configuration,
    out: BinaryIO | None,
    *,
    on_percent: Callable[[float], None] = lambda percent: None,
) -> JobReport:
    """Run it, write its lines to `out`, if any, and report.

    Raises:
        StoreUnavailable: where it failed, quoting the end of a failed task's log; nothing
            has been written to `out` then.
        PinakesError: where its counters show that inputs were not read.
    """
    report = JobReport()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="pinakes-job-")))
        on = (
            hadoop_arguments(configuration, request.job)
            if runner == "hadoop"
            else ["--runner", runner, "--no-conf"]
        )
        lines = None if out is None else stack.enter_context(TemporaryFile())
        again = _run(request, runner, on, configuration, folder, report, lines, on_percent)
        rounds = 0
        while again is not None:
            rounds += 1
            options = (*request.options, request.job.ROUND_OPTION, str(rounds))
            output = f"{request.output}-{rounds}" if request.output is not None else None
            more = replace(request, names=[str(again)], options=options, output=output)
            again = _run(more, runner, on, configuration, folder, report, lines, on_percent)
        if out is not None and lines is not None:
            lines.seek(0)
            copyfileobj(lines, out)
        with (folder / COLLISIONS).open("rb") as texts:
            report.collisions += merge_collisions(texts)
    on_percent(100.0)
    return report


def _run(
    request: JobRequest,
    runner: str,
    runner_arguments: Sequence[str],
    configuration: Configuration,
    folder: Path,
    report: JobReport,
    out: IO[bytes] | None,
    on_percent: Callable[[float], None],
) -> Path | None:
    """One run; what it has left for another, if anything."""
    with ExitStack() as stack:
        inputs = stack.enter_context(_inputs(request, runner, configuration, folder))
        kept = ("--output-dir", request.output) if request.output is not None else ()
        arguments = [*job_words(request, runner_arguments, configuration, folder), *kept]
        if runner == "hadoop":
            arguments = [*_reduces(request, inputs, configuration), *arguments]
        job = _job(request, [*arguments, *inputs])
        log = stack.enter_context(heard(on_percent, job.steps()))
        mrjob = stack.enter_context(job.make_runner())
        if runner == "hadoop":
            require_streaming_jar(mrjob)
        elif runner == "local":
            stack.enter_context(tied_workers())
        try:
            mrjob.run()
        except StepFailedException as error:
            raise StoreUnavailable(why_failed(str(error), log, configuration)) from error
        counts: Counter[str] = Counter()
        for step in mrjob.counters():
            counts.update(step.get(GROUP, {}))
        _require_all_read(counts, request)
        report.counts.update(counts)
        place = mrjob.get_output_dir()
        findings = [*map(text_problem, _kept(FINDINGS, place, configuration))]
        _require_all_reported(counts, findings)
        report.findings += findings
        with (folder / COLLISIONS).open("ab") as texts:
            texts.writelines(_kept(COLLISIONS, place, configuration))
        if request.output is not None:
            report.outputs.append(request.output)
        if out is not None:
            out.writelines(mrjob.cat_output())
        return _again(request.job, place, configuration, folder)


def _reduces(
    request: JobRequest, inputs: Sequence[str], configuration: Configuration
) -> tuple[str, ...]:
    """Words that say how many tasks reduce; those of the configuration come later."""
    if request.job.JOBCONF is LINES_OF_MAPS:
        return ()
    count = len(inputs)  # packs of archive files
    if request.job.INPUT_COUNTER == LINES:
        count = reduces_for(lines_bytes(request.names, configuration))
    return ("-D", f"mapreduce.job.reduces={count}")


def _again(
    job: type[ArchiveJob], place: str, configuration: Configuration, folder: Path
) -> Path | None:
    if job.AGAIN is None:
        return None
    path = folder / f"again-{uuid4().hex}"
    with path.open("wb") as file:
        file.writelines(_kept(job.AGAIN, place, configuration))
    return path if path.stat().st_size else None


def print_job(request: JobRequest, configuration: Configuration) -> tuple[str, ...]:
    """Lines for a shell, a step each, that do on Hadoop what `run_job` would.

    Their inputs, settings and environment lie in the job folder, and stay there.
    """
    output = request.output or f"{job_folder(configuration)}/output/{uuid4().hex}"
    with TemporaryDirectory(prefix="pinakes-job-") as name:
        folder = Path(name)
        arguments = [
            *job_words(
                request, hadoop_arguments(configuration, request.job), configuration, folder
            ),
            *("--cleanup", "NONE", "--output-dir", output),
        ]
        with _inputs(request, "hadoop", configuration, folder, keep=True) as inputs:
            arguments = [*_reduces(request, inputs, configuration), *arguments]
            # Tasks import this module, and need neither this runner nor the Spark it imports.
            from pinakes.mr_jobs.driver.printed import hadoop_lines

            return hadoop_lines(_job(request, [*arguments, *inputs]))


def _job(request: JobRequest, arguments: list[str]) -> ArchiveJob:
    try:
        return request.job(args=arguments)
    except ValueError as error:  # mrjob's parser raises it for what argparse would exit with
        raise ConfigError(f"--options: {error}") from error


def job_words(
    request: JobRequest, on: Sequence[str], configuration: Configuration, folder: Path
) -> list[str]:
    """A job's arguments: those of its runner, then the request's, which win."""
    settings = write_settings(configuration, folder)
    stored = ["--stored"] if request.stored else []
    if request.generations:
        stored += ["--generations", str(write_generations(request.generations, folder))]
    files = []
    for option, content in request.files.items():
        path = folder / option.removeprefix("--")
        path.write_bytes(content)
        files += [option, str(path)]
    here = ("--folder", str(Path.cwd()))
    return [*on, "--settings", str(settings), *here, *files, *request.options, *stored]


@contextmanager
def _inputs(
    request: JobRequest,
    runner: str,
    configuration: Configuration,
    folder: Path,
    *,
    keep: bool = False,
) -> Iterator[list[str]]:
    """What the job reads: the files of lines themselves, or lists of names, packed."""
    if request.job.INPUT_COUNTER == LINES:
        yield list(request.names)
        return
    packs = packed(
        request.names,
        configuration,
        files_of_line=request.job.files_of_line,
        stored=request.stored,
        pack_bytes=request.pack_bytes,
    )
    if runner != "hadoop":
        yield write_lists(packs, folder)
        return
    with lists_in_hdfs(packs, configuration, keep=keep) as lists:
        yield lists


def _require_all_read(counts: Counter[str], request: JobRequest) -> None:
    if request.job.INPUT_COUNTER == LINES:
        if not counts[LINES]:
            raise PinakesError("no line was read, by the job's own counters")
    elif counts[FILES] != len(request.names):
        raise PinakesError(
            f"{counts[FILES]:,} of {len(request.names):,} files were read, by the job's own "
            "counters: its output is not to be used"
        )


def _require_all_reported(counts: Counter[str], findings: Sequence[PinakesError]) -> None:
    """What was found and only counted must not pass in silence: a step before the last one."""
    counted = sum(count for name, count in counts.items() if name.startswith(PROBLEMS))
    if counted != len(findings):
        raise PinakesError(f"{counted:,} problems were counted, and {len(findings):,} reported")


def _kept(name: str, place: str, configuration: Configuration) -> Iterator[bytes]:
    """The lines that tasks have kept under this name next to their output."""
    with open_folder(place, configuration) as output:
        for stored in output.list():
            if stored.name.startswith(f"_{name}-"):
                with output.open(stored.name) as lines:
                    yield from lines

"""`--runner`: a verb's work done by its mrjob job, here, in several processes or on YARN.

A verb without `--runner` works in this process and needs no mrjob.  Lines of a job go to a file or
are results, its report is for people; jobs that work for an act on the store have its lease kept.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.progress import percents
from pinakes.config import Configuration
from pinakes.errors import ConfigError

if TYPE_CHECKING:
    from pinakes.mr_jobs.archive_job import ArchiveJob
    from pinakes.mr_jobs.driver.running import JobReport, JobRequest

    Start = Callable[..., JobReport]
    """`run_job` or its like, to be given runner, configuration, out and on_percent."""

RUNNERS = ("inline", "local", "hadoop")
_SETTINGS = ("store", "job_folder", "job_python", "job_streaming_jar")
_OPTIONS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "stored": {
            "action": "store_true",
            "help": "file names are those of files in the store, not paths or hdfs://…",
        },
        "options": {
            "metavar": "TEXT",
            "help": "more options for the job, or for mrjob, as one text: "
            "--options='-D mapreduce.map.memory.mb=2048'",
        },
        "print": {
            "action": "store_true",
            "dest": "print_only",
            "help": "with hadoop: print the command lines that do the same, and run nothing",
        },
    }
)

_ONLY_WITH_RUNNER = MappingProxyType(
    {
        "stored": "--stored",
        "options": "--options",
        "print_only": "--print",
        **{name: f"--{name.replace('_', '-')}" for name in _SETTINGS},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunner:
    """Where a job runs, by mrjob's name for it, and what it is given besides the verb's options."""

    name: str
    configuration: Configuration
    stored: bool = False
    options: tuple[str, ...] = ()
    print_only: bool = False

    def refuse(self, given: Mapping[str, object]) -> None:
        """Raise ConfigError for those of these options of the verb that were given."""
        names = [option for option, value in given.items() if value]
        if names:
            raise ConfigError(f"--runner does not support {', '.join(names)}")


def add_runner(
    parser: argparse.ArgumentParser, *takes: str, settings: str = "settings, with --runner"
) -> argparse._ArgumentGroup:
    """`--runner`, its settings, and of `stored`, `options` and `print` those that the job takes.

    What only a job takes besides is to be added to the group that is returned.  `settings` is the
    title of the settings, of which a verb may use some without a job.
    """
    group = parser.add_argument_group("with --runner")
    options_of(group)(
        "--runner",
        "run as an mrjob job: in this process, in several on this host, or on YARN "
        "(default: no job)",
        choices=RUNNERS,
    )
    for name in takes:
        group.add_argument(f"--{name}", **_OPTIONS[name])
    add_settings(parser, *_SETTINGS, title=settings)
    return group


def runner_of(arguments: argparse.Namespace, *, uses_store: bool = False) -> JobRunner | None:
    """The runner that was asked for; None: the verb works without a job.

    `uses_store`: also without a job.

    Raises:
        ConfigError: for an option that says how a job is run, where there is none.
    """
    given = {name: value for name, value in vars(arguments).items() if value}
    if arguments.runner is None:
        if uses_store:
            given.pop("store", None)
        alone = [option for name, option in _ONLY_WITH_RUNNER.items() if name in given]
        if alone:
            raise ConfigError(f"{', '.join(alone)} need{'s' * (len(alone) == 1)} --runner")
        return None
    if "print_only" in given and arguments.runner != "hadoop":
        raise ConfigError("--print is for --runner hadoop: others have no command line")
    try:
        options = tuple(shlex.split(given.get("options", "")))
    except ValueError as error:
        raise ConfigError(f"--options: {error}") from error
    return JobRunner(
        name=arguments.runner,
        configuration=configuration_of(arguments),
        stored="stored" in given,
        options=options,
        print_only="print_only" in given,
    )


def job_request(
    job: type[ArchiveJob],
    inputs: Sequence[str],
    runner: JobRunner,
    *,
    options: Sequence[str] = (),
    originals: str | None = None,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> JobRequest:
    """What the driver is asked for; the operator's own options come last."""
    from pinakes.mr_jobs.driver.running import JobRequest
    from pinakes.mr_jobs.given import JobInputs

    given = JobInputs(inputs=inputs, stored=runner.stored, originals=originals)
    return JobRequest(
        job=job,
        names=job.input_lines(given, runner.configuration),
        options=(*options, *runner.options),
        stored=runner.stored,
        files=files,
    )


def write_job_lines(
    request: JobRequest, runner: JobRunner, output: str, console: Console, *, verb: str
) -> JobReport:
    """Run it; its lines go to `output` as they are, in no order.  With --print, only print it."""
    from pinakes.mr_jobs.driver.running import run_job

    if runner.print_only:
        return print_job_lines(request, runner, console)
    with output_file(output, console) as out:
        return _run(partial(run_job, request), runner, out, console, verb)


def print_job_lines(request: JobRequest, runner: JobRunner, console: Console) -> JobReport:
    """Print the command lines that would run it; nothing is run, and the report is empty."""
    from pinakes.mr_jobs.driver.running import JobReport, print_job

    for line in print_job(request, runner.configuration):
        console.result({"command": line}, text=line)
    return JobReport()


def show_job_results(
    start: Start,
    runner: JobRunner,
    console: Console,
    text: Callable[[Mapping[str, Any]], str],
    *,
    verb: str,
) -> JobReport:
    """Run it; each of its lines is a result of the verb, and `text` is how people read it."""
    with TemporaryFile() as lines:
        report = _run(start, runner, lines, console, verb)
        lines.seek(0)
        for result in map(json.loads, lines):
            console.result(result, text=text(result))
    return report


def write_files_by_job(
    request: JobRequest,
    output: str,
    runner: JobRunner,
    console: Console,
    text: Callable[[Mapping[str, Any]], str],
    *,
    verb: str,
) -> Exit:
    """Run a job that writes a file for each of its results into a folder; the verb's exit code."""
    from pinakes.mr_jobs.writing_job import run_writing_job

    start = partial(run_writing_job, request, output)
    return report_job(show_job_results(start, runner, console, text, verb=verb), console)


def _run(start: Start, runner: JobRunner, out: BinaryIO, console: Console, verb: str) -> JobReport:
    with console.progress(verb, total=100, unit="percent") as progress:
        return start(runner.name, runner.configuration, out, on_percent=percents(progress))


def report_job(report: JobReport, console: Console) -> Exit:
    """Name what it found wrong, say what it counted; the exit code that is."""
    from pinakes.mr_jobs.archive_job import FOUND

    for problem in report.findings:
        console.warn(problem)
    for counter, count in sorted(report.counts.items()):
        console.say(f"{counter}: {count:,}")
    if report.findings:
        return Exit.SOME_FAILED
    return Exit.FOUND if report.counts[FOUND] else Exit.DONE


def require_jobs(runner: str, configuration: Configuration) -> None:
    """Look at what can be looked at before an act is begun.

    Raises:
        ConfigError: where this runner cannot work with this configuration.
        MissingExtra: without what jobs need.
    """
    if runner == "hadoop" and configuration.profile != "cluster":
        raise ConfigError("--runner hadoop is for profile = cluster: here use inline or local")
    if runner != "inline":
        from pinakes.mr_jobs.driver.submission import require_hadoop

        if runner == "hadoop":
            require_hadoop(configuration)

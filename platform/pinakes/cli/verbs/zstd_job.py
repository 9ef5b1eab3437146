"""`pinakes zstd compress` and `decompress` with `--runner`: each file by a task of a job."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import GivenFiles
from pinakes.cli.frame.job_inputs import files_below, is_folder_for_tasks
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.options import inputs_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.cli.frame.store_jobs import require_jobs
from pinakes.cli.verbs import zstd_convert, zstd_stored
from pinakes.errors import ConfigError, PinakesError
from pinakes.recompression.forms import StoredForm
from pinakes.rewrite.recompress_file import TOO_LITTLE, Recompression

_SETTINGS = "settings, with --runner; of crawls --store, too"


def configure_compress(parser: argparse.ArgumentParser) -> None:
    """As without a job, and where one runs."""
    zstd_convert.configure_compress(parser)
    add_runner(parser, "stored", "options", settings=_SETTINGS)


def configure_decompress(parser: argparse.ArgumentParser) -> None:
    """As without a job, and where one runs."""
    zstd_convert.configure_decompress(parser)
    add_runner(parser, "stored", "options", settings=_SETTINGS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write each file in another compression: in this process, or by a job."""
    runner = _job_runner_of(arguments)
    if arguments.output is None:
        return zstd_stored.run(arguments, console, runner)
    if arguments.again:
        raise ConfigError("--again is for crawls: with -o, files in any compression are written")
    if runner is None:
        return zstd_convert.run(arguments, console)
    form = zstd_stored.given_form_of(arguments)
    names, failed = _names(list(inputs_of(arguments)), runner, console)
    folder = None if runner.stored else Path(arguments.output)
    names = zstd_convert.without_clashes(names, folder, form.form)
    min_saving = zstd_convert.min_saving_of(arguments)
    done = _by_job(names, arguments.output, form, min_saving, runner, console)
    return Exit.SOME_FAILED if failed else done


def _job_runner_of(arguments: argparse.Namespace) -> JobRunner | None:
    """The runner that was asked for, for files or, without `--output`, crawls.

    Raises:
        ConfigError: for what it does not take, or for an option of jobs without it.
    """
    of_crawls = arguments.output is None
    if of_crawls and arguments.runner is None:
        # The store is theirs, too.
        return runner_of(argparse.Namespace(**{**vars(arguments), "store": None}))
    runner = runner_of(arguments)
    if runner is not None:
        here = {"-j": arguments.jobs, "--plan": arguments.plan, "--dry-run": arguments.dry_run}
        runner.refuse({**here, "--stored without -o": of_crawls and runner.stored})
        if of_crawls:
            require_jobs(runner.name, runner.configuration)
    return runner


def _names(
    inputs: Sequence[str], runner: JobRunner, console: Console
) -> tuple[Sequence[str], bool]:
    """The files of these inputs, which may be folders; and whether any could not be read."""
    if runner.stored:
        return inputs, False
    given = GivenFiles((name for name in inputs if not is_folder_for_tasks(name)), console)
    for folder in filter(is_folder_for_tasks, inputs):
        given.names += files_below(folder, runner.configuration, given.warn, console)
    return given.names, given.failed


def _by_job(
    names: Sequence[str],
    output: str,
    form: StoredForm,
    min_saving: float,
    runner: JobRunner,
    console: Console,
) -> Exit:
    from pinakes.mr_jobs.form_options import form_files, form_options
    from pinakes.mr_jobs.recompress import RecompressJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    if not names:
        return Exit.DONE
    least = ("--min-file-saving", str(min_saving)) if min_saving else ()
    options = (*form_options(form), *least)
    job = job_request(RecompressJob, names, runner, options=options, files=form_files(form))

    left = 0

    def tell(line: Mapping[str, Any]) -> str:
        nonlocal left
        result = Recompression.from_json(line)
        left += result.outcome == TOO_LITTLE
        for finding in (*result.findings, *result.left_out):  # the job's report has the stretches
            console.warn(PinakesError(finding.message, file=result.file, offset=finding.offset))
        return zstd_convert.sentence(result)

    start = partial(run_writing_job, job, output)
    done = report_job(show_job_results(start, runner, console, tell, verb="zstd"), console)
    if left:
        console.say(zstd_convert.too_little(left, min_saving))
    return done

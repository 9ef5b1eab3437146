"""`pinakes zstd compress` and `decompress`: archive files in another compression.

With `-o`; without it, crawls of the store are meant.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pinakes.application.inputs import find_files, total_size
from pinakes.application.recompressing import (
    LEVEL,
    CompressionChoice,
    recompress_files,
    without_clashes,
)
from pinakes.archive_store.local.files import make_folder
from pinakes.archive_store.located import open_place
from pinakes.cli.frame.event_printer import EventPrinter, shown_later
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.inputs import add_inputs, files_below, inputs_of, is_folder_for_tasks
from pinakes.cli.frame.jobs import (
    JobRunner,
    add_runner,
    job_request,
    require_jobs,
    runner_of,
    write_files_by_job,
)
from pinakes.cli.frame.options import add_dry_run, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.zstd_printing import say_findings, sentence, sizes, too_little
from pinakes.cli.verbs.zstd_stored import recompress_crawls
from pinakes.errors import ConfigError, InputRefused, PinakesError
from pinakes.recompression.forms import StoredForm
from pinakes.rewrite.recompress_file import TOO_LITTLE, Recompression
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.compression.zstd_writer import LEVELS

_SETTINGS = "settings, with --runner; of crawls --store, too"


def configure_compress(parser: argparse.ArgumentParser) -> None:
    """Archive files, a folder, a dictionary and a level; and where a job runs."""
    _add_shared(parser)
    option = options_of(parser)
    option(
        "--dictionary DICT",
        "compress with this dictionary, or with that of this Zstandard archive file, and put "
        "it into each file (default: none, also for a file that has one; for a crawl the one that "
        "its collection keeps)",
    )
    option(
        "--level N",
        f"from {LEVELS[0]}, fast, to {LEVELS[-1]}, small (default: {LEVEL})",
        type=int,
        default=LEVEL,
    )
    option(
        "--min-file-saving FRACTION",
        "leave a file unless the new one is smaller by this part of it, as 1%% or 0.01; 0: "
        "none (default: of crawls the setting of that name; with -o 0: all are written)",
    )
    add_runner(parser, "stored", "options", settings=_SETTINGS)


def configure_decompress(parser: argparse.ArgumentParser) -> None:
    """Archive files and a folder; and where a job runs."""
    _add_shared(parser)
    options_of(parser)("--plain", "uncompressed (default: a gzip member a record)")
    add_runner(parser, "stored", "options", settings=_SETTINGS)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add_inputs(
        parser,
        "FILE|CRAWL",
        "WARC or ARC files in any compression, or folders of them, with -o; without it crawls or "
        "collections of the store, whose files get a new generation",
    )
    option = options_of(parser)
    option("-o, --output DIR", "folder for the new files; not for crawls")
    option(
        "-j, --jobs N",
        "number of processes, a file each; of a single file, and of crawls, of threads that "
        "compress (default: 1)",
    )
    option(
        "--plan",
        "say what would be saved, by a sample of the records of large files; write nothing",
    )
    option(
        "--again",
        "rewrite files of crawls that are in this compression already, for another level "
        "or dictionary, or a member a record (default: left)",
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write each file in another compression: in this process, or by a job."""
    runner = _runner_of(arguments)
    if arguments.output is not None and arguments.again:
        raise ConfigError("--again is for crawls: with -o, files in any compression are written")
    to, min_saving = compression_of(arguments), min_saving_of(arguments)
    printer = EventPrinter(console)
    form, inputs = to.form(), inputs_of(arguments)
    if arguments.output is None:
        return recompress_crawls(
            list(inputs),
            to,
            configuration_of(arguments),
            runner,
            console,
            plan=arguments.plan,
            of_all=arguments.dry_run,
            again=arguments.again,
            min_saving=min_saving,
        )
    folder = Path(arguments.output)
    if runner is not None:
        names = _names(list(inputs), runner, printer)
        names = without_clashes(names, None if runner.stored else folder, form.form)
        return printer.exit(_by_job(names, arguments.output, form, min_saving, runner, console))
    names = without_clashes(find_files(inputs, printer).names, folder, form.form)
    if not (arguments.plan or arguments.dry_run):
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"-o {folder} is not a folder")
        make_folder(folder)
    before = after = left = 0
    with shown_later(console, "zstd", total_size(names)) as begin:
        results = recompress_files(
            names,
            folder,
            to,
            jobs=configuration_of(arguments).jobs,
            plan=arguments.plan,
            dry_run=arguments.dry_run,
            min_saving=min_saving,
            begin=begin,
        )
        with closing(results):
            for name, result in results:
                if isinstance(result, PinakesError):
                    printer(result)
                    continue
                say_findings(result, name, console)
                printer.failed |= bool(result.stretches)
                if result.outcome == TOO_LITTLE:
                    left += 1
                else:
                    before, after = before + result.bytes_before, after + result.bytes_after
                console.result(result.as_json(), text=sentence(result))
    if len(names) > 1:
        console.say(f"{sizes(before, after)} in all")
    if left:
        console.say(too_little(left, min_saving))
    return printer.exit()


def compression_of(arguments: argparse.Namespace) -> CompressionChoice:
    """What is asked for.  `Raises` ConfigError for a dictionary that is none."""
    if arguments.action == "decompress":
        return CompressionChoice(level=None, plain=arguments.plain)
    if arguments.dictionary is None:
        return CompressionChoice(arguments.level)
    try:
        with open_place(arguments.dictionary) as source:
            return CompressionChoice(arguments.level, dictionary_in(source).as_bytes())
    except InputRefused as refusal:
        raise ConfigError(refusal.message, file=refusal.file) from refusal


def min_saving_of(arguments: argparse.Namespace) -> float:
    """What a new file must save, as a part of the old one; 0 for none.  `Raises` ConfigError."""
    if arguments.action == "decompress":
        return 0
    is_given = arguments.min_file_saving is not None or arguments.output is None
    return configuration_of(arguments).min_file_saving if is_given else 0


def _runner_of(arguments: argparse.Namespace) -> JobRunner | None:
    """The runner that was asked for, for files or, without `--output`, crawls.

    Raises:
        ConfigError: for what it does not take, or for an option of jobs without it.
    """
    of_crawls = arguments.output is None
    runner = runner_of(arguments, uses_store=of_crawls)
    if runner is not None:
        here = {"-j": arguments.jobs, "--plan": arguments.plan, "--dry-run": arguments.dry_run}
        runner.refuse({**here, "--stored without -o": of_crawls and runner.stored})
        if of_crawls:
            require_jobs(runner.name, runner.configuration)
    return runner


def _names(inputs: Sequence[str], runner: JobRunner, printer: EventPrinter) -> Sequence[str]:
    """The files of these inputs, which may be folders."""
    if runner.stored:
        return inputs
    given = find_files((name for name in inputs if not is_folder_for_tasks(name)), printer)
    for folder in filter(is_folder_for_tasks, inputs):
        given.names.extend(files_below(folder, runner.configuration, printer))
    return given.names


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

    if not names:
        return Exit.DONE
    least = ("--min-file-saving", str(min_saving)) if min_saving else ()
    options = (*form_options(form), *least)
    job = job_request(RecompressJob, names, runner, options=options, files=form_files(form))

    left = 0

    def describe(line: Mapping[str, Any]) -> str:
        nonlocal left
        result = Recompression.from_json(line)
        left += result.outcome == TOO_LITTLE
        for finding in (*result.findings, *result.left_out):  # the job's report has the stretches
            console.warn(PinakesError(finding.message, file=result.file, offset=finding.offset))
        return sentence(result)

    done = write_files_by_job(job, output, runner, console, describe, verb="zstd")
    if left:
        console.say(too_little(left, min_saving))
    return done

"""`pinakes refs`: archive files anew, their duplicates as revisits."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.archive_store.located import open_place, output_name, size_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.file_places import FilePlaces, add_places, open_files, places_of
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.left_full import left_full_text
from pinakes.cli.frame.options import add_dry_run, add_inputs, configuration_of, inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.counts import count_of
from pinakes.dedupe.archive_files import SUPERSEDED, ArchiveFiles
from pinakes.dedupe.write.duplicates import Duplicates
from pinakes.dedupe.write.in_place import InPlaceRewriting
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.dedupe.write.rewriting import (
    Replacements,
    refuse_equal_names,
    rewrite_or_copy,
    run_name_of,
)
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
)
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.source import Source

_TO_COUNT = "min_saving_bytes"
_PASSES = 2
"""Over a file that is rewritten: written, and proven."""
_RUN_OF_OTHERS = "refs"
"""What a run is called whose manifest is not a file here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefsRequest:
    """Which duplicates to write as revisits, in which files, and where those go."""

    names: Sequence[str]
    """The files to write anew; with a runner, none: those that the manifest marks."""
    manifest: str
    output: str | None
    """None: in place."""
    min_saving_bytes: int | None
    places: FilePlaces
    run: str | None
    dry_run: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, the manifest that says what to do, and where to write."""
    add_inputs(
        parser,
        "WARC",
        "files to rewrite, each of another base name, or folders of them; with --runner, give none",
    )
    parser.add_argument(
        "--manifest",
        metavar="FILE",
        required=True,
        help="what `pinakes process` wrote; with --runner also hdfs://… or a pattern with *",
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder for the new files; with --runner hadoop hdfs://…",
    )
    target.add_argument(
        "--in-place",
        action="store_true",
        help="replace the files; the old ones are moved to superseded/",
    )
    parser.add_argument(
        "--min-saving",
        metavar="BYTES",
        dest=_TO_COUNT,
        help="rewrite a record only if that saves at least so much; none: always (default: 64)",
    )
    add_places(parser)
    parser.add_argument(
        "--run",
        metavar="ID",
        help="name of this run, written into the revisits (default: a hash of the manifest; "
        f"{_RUN_OF_OTHERS} if the manifest is not a local file)",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what was replaced, what stayed full and why."""
    runner = runner_of(arguments)
    if runner is not None:
        is_named = bool(arguments.inputs or arguments.files_from)
        names = list(inputs_of(arguments)) if is_named else []
        return _by_job(_request_of(arguments, names), runner, console)
    if arguments.output is None:  # a folder may have superseded/ in it by now
        return _write(_request_of(arguments, list(inputs_of(arguments))), console)
    given = archive_files_of(arguments, console)
    return given.exit(_write(_request_of(arguments, given.names), console))


def _request_of(arguments: argparse.Namespace, names: Sequence[str]) -> RefsRequest:
    return RefsRequest(
        names=names,
        manifest=arguments.manifest,
        output=arguments.output,
        min_saving_bytes=configuration_of(arguments).min_saving_bytes,
        places=places_of(arguments),
        run=arguments.run,
        dry_run=arguments.dry_run,
    )


def _write(request: RefsRequest, console: Console) -> Exit:
    refuse_equal_names(request.names)
    manifest = Path(request.manifest)
    run_name = _run_name(request)
    with open_files(request.places, superseded=request.output is None) as files:
        duplicates = _read_duplicates(manifest, files)
        if not duplicates.places:
            console.say(
                f"{manifest}: contains no duplicates; `pinakes resolve --process` finds them"
            )
        writer = RevisitWriter(
            OriginalReader(files, duplicates.places).find,
            run=run_name,
            min_saving_bytes=request.min_saving_bytes,
        )
        batch = _Batch(request, console, duplicates, writer)
        with console.progress("refs", total=_size(request.names)) as progress:
            if request.output is None and not request.dry_run:
                batch.rewrite_in_place(files, progress)
            else:
                batch.rewrite(progress)
    console.say(_sentence("all files", batch.total.as_json()))
    return Exit.SOME_FAILED if batch.failed else Exit.DONE


def _by_job(request: RefsRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.write_revisits import WriteRevisitsJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    runner.refuse(
        {
            "WARC (it writes the files in which --manifest marks duplicates)": request.names,
            "--in-place": request.output is None,
            "--dir": request.places.folder,
            "--locations": request.places.table,
            "--dry-run": request.dry_run,
        }
    )
    options = ["--run", _run_name(request)]
    if request.min_saving_bytes is not None:
        options += ["--min-saving-bytes", str(request.min_saving_bytes)]
    assert request.output is not None
    job = job_request(WriteRevisitsJob, [request.manifest], runner, options=options)
    report = show_job_results(
        partial(run_writing_job, job, request.output),
        runner,
        console,
        lambda result: _sentence(printable(result["file"]), result),
        verb="refs",
    )
    return report_job(report, console)


def _run_name(request: RefsRequest) -> str:
    """Raises ConfigError for what cannot stand in a record."""
    path = Path(request.manifest)
    name = request.run
    if name is None:
        name = run_name_of(path) if path.is_file() else _RUN_OF_OTHERS
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError("--run may contain letters, digits, - and _")
    return name


class _Batch:
    """The files of one call; what went wrong with one of them does not end it."""

    def __init__(
        self,
        request: RefsRequest,
        console: Console,
        duplicates: Duplicates,
        writer: RevisitWriter,
    ) -> None:
        self.total = RefsCount()
        self.failed = False
        self._request = request
        self._console = console
        self._duplicates = duplicates
        self._writer = writer

    def rewrite(self, progress: Progress) -> None:
        """Each file into the output folder; or nowhere, in a dry run."""
        for name in self._request.names:
            with self._counted(name, progress) as (replace, count):
                if self._request.dry_run or self._request.output is None:
                    with open_place(name) as source:
                        for _ in replace(source):
                            pass
                else:
                    folder = Path(self._request.output)
                    folder.mkdir(parents=True, exist_ok=True)
                    rewrite_or_copy(name, folder / output_name(name), replace, count)

    def rewrite_in_place(self, files: ArchiveFiles, progress: Progress) -> None:
        """Each file aside; then, where all references prove right, into their places."""
        with InPlaceRewriting(files) as rewriting:
            for name in self._request.names:
                with self._counted(name, progress) as (replace, _):
                    if rewriting.stage(name, replace):
                        rewriting.add_originals(self._duplicates.lines_of(name))
            for path in rewriting.swap():
                self._console.say(f"{path}: the old file is in {SUPERSEDED}/")

    @contextmanager
    def _counted(self, name: str, progress: Progress) -> Iterator[tuple[Replacements, RefsCount]]:
        count = RefsCount()
        if not self._duplicates.names_of(name):
            why = "not in the manifest: nothing in it is replaced"
            self._console.warn(f"{name}: {why}", kind=why)
        try:
            lines = self._duplicates.lines_of(name)
            size = size_at(name) or 0
            with FileProgress(progress.advance, size, passes=_PASSES) as done:

                def replace(source: Source) -> Iterator[Replacement]:
                    return watched(self._writer.replacements(source, lines, count), source, done)

                yield replace, count
        except (InputRefused, DigestMismatch, Conflict) as problem:
            self._console.warn(problem)
            self.failed = True
            return
        for unreadable in count.problems:
            self._console.warn(unreadable)
        self.failed = self.failed or bool(count.problems)
        self.total.add(count)
        counts = count.as_json()
        self._console.result({"file": name, **counts}, text=_sentence(printable(name), counts))


def _read_duplicates(manifest: Path, files: ArchiveFiles) -> Duplicates:
    try:
        return Duplicates.read(manifest, files)
    except MalformedRecord as problem:
        problem.file = str(manifest)
        raise


def _size(names: Sequence[str]) -> int:
    return sum(size_at(name) or 0 for name in names)


def _sentence(name: str, counts: Mapping[str, Any]) -> str:
    text = (
        f"{name}: {count_of(counts['revisits'], 'revisit')}, {counts['saved_bytes']:,} bytes saved"
    )
    return text + left_full_text(counts["left_full"])

"""`pinakes restore`: revisits that we wrote, back to full records; crawlers', where asked for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.archive_store.located import open_place, output_name
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.file_places import (
    FilePlaces,
    add_locations,
    find_originals,
    locations_of,
    places_of,
)
from pinakes.cli.frame.input_paths import archive_files_of
from pinakes.cli.frame.job_run import job_request, report_job, show_job_results
from pinakes.cli.frame.options import add_dry_run, add_inputs, inputs_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.record_inputs import size_of
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.index_originals import note_indexed
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.write.restore import RestoreCount, want_originals
from pinakes.dedupe.write.restoring import Restoring
from pinakes.dedupe.write.rewriting import Replacements, refuse_equal_names, rewrite_to
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_names import base_name
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.source import Source

_PASSES = 2
"""Over a file that is rewritten: written, and proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRequest:
    """Which files to restore, where their originals are, and where the new files go."""

    names: Sequence[str]
    output: str
    places: FilePlaces
    """Where originals are, besides the files themselves."""
    index: Path | None
    """A CDX or CDXJ of the originals, instead of reading for them."""
    foreign: bool
    """Revisits that crawlers wrote, too."""
    dry_run: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, and where their originals are."""
    add_inputs(parser, "WARC", "files, folders or WACZ packages whose revisits become full records")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="folder for the restored files; with --runner hadoop hdfs://…",
    )
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="also look for originals in the WARC files of this folder, or below a URL",
    )
    add_locations(parser, "table of further files with originals: names, and paths or URLs")
    parser.add_argument(
        "--cdx",
        metavar="FILE",
        help="find originals by this CDX or CDXJ, instead of reading the files",
    )
    parser.add_argument(
        "--foreign",
        action="store_true",
        help="also make crawlers' revisits full, where a body at hand has the payload digest that "
        "they declare",
    )
    add_dry_run(parser)
    add_runner(parser, "stored", "options")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; what could not be restored is named, and stays a revisit."""
    runner = runner_of(arguments)
    if runner is not None:
        return _by_job(_request_of(arguments, list(inputs_of(arguments))), runner, console)
    given = archive_files_of(arguments, console)
    return given.exit(_restore(_request_of(arguments, given.names), console))


def _request_of(arguments: argparse.Namespace, names: Sequence[str]) -> RestoreRequest:
    return RestoreRequest(
        names=names,
        output=arguments.output,
        places=places_of(arguments),
        index=Path(arguments.cdx) if arguments.cdx else None,
        foreign=arguments.foreign,
        dry_run=arguments.dry_run,
    )


def _restore(request: RestoreRequest, console: Console) -> Exit:
    refuse_equal_names(request.names)
    originals = Originals()
    readable = []
    failed = False
    for name in request.names:
        try:
            with open_place(name) as source:
                want_originals(source, originals, foreign=request.foreign)
            readable.append(name)
        except InputRefused as problem:
            console.warn(problem)
            failed = True
    known = {base_name(name): name for name in readable}
    locations = locations_of(request.places) | known
    if request.index is not None:
        note_indexed(request.index, originals)
    else:
        for place in [*readable, *find_originals(request.places, readable)]:
            try:
                with open_place(place) as source:
                    originals.look_through(source)
            except InputRefused as problem:
                console.warn(problem)
                failed = True
    output = Path(request.output)
    total = sum(map(size_of, readable))
    with (
        ArchiveFiles(folder=request.places.folder, locations=locations) as files,
        console.progress("restore", total=total) as progress,
    ):
        for name in readable:
            count = RestoreCount()
            work = Restoring(originals, files, count, foreign=request.foreign)
            try:
                with FileProgress(progress.advance, size_of(name), passes=_PASSES) as done:
                    if request.dry_run:
                        with open_place(name) as source:
                            for _ in work.replacements(source):
                                pass
                    else:
                        output.mkdir(parents=True, exist_ok=True)
                        target = output / output_name(name)
                        replacements = partial(_watched, work.replacements, done)
                        rewrite_to(name, target, replacements, check=work.check)
            except (InputRefused, DigestMismatch, Conflict) as problem:
                console.warn(problem)
                failed = True
                continue
            for unresolved in count.problems:
                console.warn(unresolved)
            failed = failed or bool(count.problems)
            result = {"file": name, "restored": count.restored, "left": dict(count.left)}
            if request.foreign:
                result["foreign"] = count.foreign
            console.result(result, text=_sentence(result))
    return Exit.SOME_FAILED if failed else Exit.DONE


def _watched(restore: Replacements, done: FileProgress, source: Source) -> Iterator[Replacement]:
    return watched(restore(source), source, done)


def _by_job(request: RestoreRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.restore import RestoreJob
    from pinakes.mr_jobs.writing_job import run_writing_job

    runner.refuse(
        {
            "--cdx": request.index,
            "--locations": request.places.table,
            "--foreign": request.foreign,
            "--dry-run": request.dry_run,
        }
    )
    job = job_request(RestoreJob, request.names, runner, originals=request.places.folder)
    start = partial(run_writing_job, job, request.output)
    return report_job(show_job_results(start, runner, console, _sentence, verb="restore"), console)


def _sentence(result: Mapping[str, Any]) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(result["left"].items()))
    foreign = f", {result['foreign']} by crawlers" if "foreign" in result else ""
    return f"{printable(result['file'])}: {result['restored']} restored{foreign}" + (
        f"; {left}" if left else ""
    )

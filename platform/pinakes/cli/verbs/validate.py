"""`pinakes validate`: nothing lost, nothing altered, every reference resolves."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.application.file_places import FilePlaces, find_originals, open_files
from pinakes.archive_store.located import open_place, size_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.input_paths import GivenFiles
from pinakes.cli.frame.job_run import (
    job_request,
    print_job_lines,
    report_job,
    show_job_results,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.place_options import add_locations, places_of
from pinakes.cli.frame.receipt_file import write_receipt
from pinakes.cli.frame.runner_options import JobRunner, add_runner, runner_of
from pinakes.dedupe.copy.reference_check import check_set
from pinakes.dedupe.references.further_originals import add_indexed_originals, add_originals
from pinakes.dedupe.references.outcomes import INDEXED, OUTCOMES
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.validate.file_pairs import DISCREPANCIES, Discrepancy, Witnesses
from pinakes.dedupe.validate.folders import Validation, archive_folder, validate_folders
from pinakes.dedupe.validate.quick_look import QUICK_FINDINGS, compare_manifests
from pinakes.dedupe.validate.receipt import read_accepted
from pinakes.dedupe.validate.replay_sample import ReplaySample, ask_replay
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.errors import ConfigError, InputRefused
from pinakes.index.manifest import parse_lines

if TYPE_CHECKING:
    from pinakes.cli.frame.job_run import Start

_REACHED = frozenset({"resolves", INDEXED})
"""Of references: nothing was found of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateRequest:
    """Two folders to compare (paths, `hdfs://…`), and what is accepted, asked and written."""

    before: str
    after: str
    originals: FilePlaces
    """Where originals are that are in neither."""
    index: Path | None
    """Names them, so that their files are not read through."""
    receipt: Path | None
    accept: Path | None
    replay: str | None

    def accepted(self) -> list[dict[str, str]]:
        """The discrepancies that somebody accepted."""
        return read_accepted(self.accept) if self.accept else []

    def write_receipt(self, result: Validation) -> None:
        """Write the receipt, where one was asked for."""
        if self.receipt:
            write_receipt(self.receipt, result)


def configure(parser: argparse.ArgumentParser) -> None:
    """Two folders of archive files; or two manifests; or files whose references are asked for."""
    parser.add_argument(
        "folders",
        metavar="BEFORE_DIR AFTER_DIR",
        nargs="*",
        help="folders of the original and the rewritten files; with --runner hadoop hdfs://…",
    )
    parser.add_argument(
        "--receipt", metavar="FILE", type=Path, help="write a receipt, for commit-copy"
    )
    parser.add_argument(
        "--accept",
        metavar="FILE",
        type=Path,
        help="accepted discrepancies, one JSON object per line: file, ordinal, code, who, why",
    )
    parser.add_argument(
        "--replay",
        metavar="URL-PREFIX",
        help="replay a sample of revisits from this collection of a running pywb or OpenWayback",
    )
    parser.add_argument(
        "--manifests",
        metavar=("BEFORE", "AFTER"),
        nargs=2,
        type=Path,
        help="compare two manifests: quick, but no proof",
    )
    parser.add_argument(
        "--refs",
        metavar="WARC",
        nargs="+",
        help="check that all references within these files resolve",
    )
    parser.add_argument("--cdx", metavar="FILE", type=Path, help="CDX or CDXJ of further originals")
    parser.add_argument(
        "--dir",
        "--originals",
        metavar="FOLDER",
        help="also look for originals in the archive files of this folder, or below a URL",
    )
    add_locations(parser, "table of further files with originals: names, and paths or URLs")
    add_runner(parser, "options", "print")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per discrepancy, then the verdict; exit 1 where anything was found."""
    folders, manifests, refs = arguments.folders, arguments.manifests, arguments.refs
    if sum(map(bool, (folders, manifests, refs))) != 1 or len(folders) not in (0, 2):
        raise ConfigError(
            "nothing to validate: give BEFORE_DIR and AFTER_DIR, --manifests or --refs"
        )
    if not folders and any((arguments.receipt, arguments.accept, arguments.replay)):
        raise ConfigError("--receipt, --accept and --replay need two folders")
    places = places_of(arguments)
    if manifests and any((arguments.cdx, places.folder, places.table)):
        raise ConfigError("--cdx, --dir and --locations need two folders or --refs")
    if arguments.receipt and arguments.receipt.exists():
        raise ConfigError(f"--receipt {arguments.receipt}: exists already and is not replaced")
    runner = runner_of(arguments)
    if runner is not None:
        runner.refuse(
            {
                "--manifests": manifests,
                "--refs": refs,
                "--replay": arguments.replay,
                "--cdx": arguments.cdx,
                "--locations": places.table,
            }
        )
    if manifests:
        return _look_quickly(manifests[0], manifests[1], console)
    if refs:
        return _check_references(GivenFiles(refs, console), places, arguments.cdx, console)
    request = ValidateRequest(
        before=folders[0],
        after=folders[1],
        originals=places,
        index=arguments.cdx,
        receipt=arguments.receipt,
        accept=arguments.accept,
        replay=arguments.replay,
    )
    return _validate(request, console) if runner is None else _by_job(request, runner, console)


def _validate(request: ValidateRequest, console: Console) -> Exit:
    before, after = Path(request.before), Path(request.after)
    old = archive_folder(before)
    size = sum(size_at(str(old.root / name)) or 0 for name in old.archives.values())
    sample = ReplaySample() if request.replay else None
    with WarcioReader() as warcio, console.progress("validate", total=size) as progress:
        result = validate_folders(
            before,
            after,
            accepted=request.accepted(),
            witnesses=Witnesses(second_reader=warcio, sampler=sample),
            advance=progress.advance,
            add_further=lambda resolution: _add_further(request, resolution, console),
        )
    if sample is not None and request.replay is not None:
        _ask(request.replay, sample, after, result)
    for found in result.open_discrepancies:
        console.result(found._asdict(), text=_line(found._asdict()))
    for name in result.others:
        why = "not compared: its name is not that of an archive file"
        console.warn(f"{printable(name)}: {why}", kind=why)
    request.write_receipt(result)
    console.say(_sentence(result))
    return Exit.DONE if result.passed else Exit.FOUND


def _add_further(request: ValidateRequest, resolution: Resolution, console: Console) -> None:
    """A reference to what cannot be read is found dangling."""
    if request.index is not None:
        with open_files(request.originals) as files:
            add_indexed_originals(request.index, files, resolution, console.warn)
        return
    for place in find_originals(request.originals, ()):
        try:
            with open_place(place) as source:
                add_originals(source, resolution)
        except InputRefused as problem:
            console.warn(problem)


def _by_job(request: ValidateRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.driver.running import run_job
    from pinakes.mr_jobs.validate import ValidateJob
    from pinakes.mr_jobs.validating import Receipted, run_validation

    if runner.print_only:
        runner.refuse({"--print with --receipt or --accept": request.receipt or request.accept})
    folders = [request.before, request.after]
    job = job_request(ValidateJob, folders, runner, originals=request.originals.folder)
    if runner.print_only:
        return report_job(print_job_lines(job, runner, console), console)
    start: Start = partial(run_job, job)
    if request.receipt or request.accept:
        what = Receipted(request=job, folders=folders, accepted=request.accepted())
        start = partial(run_validation, what, on_result=request.write_receipt)
    report = show_job_results(start, runner, console, _line, verb="validate")
    return report_job(report, console)


def _line(found: Mapping[str, Any]) -> str:
    """A discrepancy, as people read it."""
    return printable(
        f"{found['file']}:{found['offset']}: {found['code']}: record {found['ordinal']}: "
        f"{found['message']}"
    )


def _ask(prefix: str, sample: ReplaySample, after: Path, result: Validation) -> None:
    result.replayed = len(list(sample))
    for asked, problem in ask_replay(prefix, sample):
        message = f"{DISCREPANCIES['replay']}: {problem}: {asked.target_uri}"
        file = str(Path(asked.file).relative_to(after))
        result.comparison.discrepancies.append(
            Discrepancy("replay", file, asked.ordinal, asked.offset, message)
        )


def _look_quickly(before: Path, after: Path, console: Console) -> Exit:
    count = 0
    with (
        before.open(encoding="utf-8", errors="surrogateescape", newline="\n") as was,
        after.open(encoding="utf-8", errors="surrogateescape", newline="\n") as now,
    ):
        for found in compare_manifests(parse_lines(was), parse_lines(now)):
            count += 1
            console.result(
                found._asdict(),
                text=printable(
                    f"{found.target_uri} {found.date}: {found.code}: {QUICK_FINDINGS[found.code]}"
                ),
            )
    console.say(f"{count} found; a quick look permits nothing" if count else "nothing found; a "
                "quick look at what manifests say permits nothing")  # fmt: skip
    return Exit.FOUND if count else Exit.DONE


def _check_references(
    given: GivenFiles, places: FilePlaces, index: Path | None, console: Console
) -> Exit:
    outcomes: dict[str, int] = {}
    files = given.names
    further = find_originals(places, files)
    size = sum(size_at(file) or 0 for file in files)
    with console.progress("references", total=size) as progress:
        for found in check_set(
            files, further=further, index=index, advance=progress.advance, on_refused=given.warn
        ):
            outcomes[found.outcome] = outcomes.get(found.outcome, 0) + 1
            if found.outcome not in _REACHED:
                console.result(
                    found._asdict(),
                    text=printable(
                        f"{found.file}: record {found.ordinal}: {found.outcome}: "
                        f"{OUTCOMES[found.outcome]}: {found.target_uri} {found.target_second}"
                    ).rstrip(),
                )
    total = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    console.say(f"references: {total or 'none'}")
    return given.exit(Exit.DONE if outcomes.keys() <= _REACHED else Exit.FOUND)


def _sentence(result: Validation) -> str:
    found = result.comparison
    references = ", ".join(f"{n} {outcome}" for outcome, n in sorted(result.references.items()))
    verdict = "passed" if result.passed else f"FAILED: {len(result.open_discrepancies)} found"
    return (
        f"{verdict}; {len(result.files)} files, {found.records} records, "
        f"{found.rewritten} rewritten, {found.restored} restored, "
        f"{found.read_twice} read again with warcio"
        + (f", {result.replayed} replayed" if result.replayed is not None else "")
        + (f"; references: {references}" if references else "")
    )

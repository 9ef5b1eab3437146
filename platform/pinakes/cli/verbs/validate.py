"""`pinakes validate`: nothing lost, nothing altered, every reference resolves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.application.validating import size_before, validate, write_receipt
from pinakes.cli.frame.chain_options import add_locations, places_of
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import (
    JobRunner,
    add_runner,
    job_request,
    print_job_lines,
    report_job,
    runner_of,
    show_job_results,
)
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.validate_printing import (
    check_references,
    discrepancy_line,
    look_quickly,
    say_findings,
    validation_text,
)
from pinakes.dedupe.validate.receipt import read_accepted
from pinakes.errors import ConfigError

if TYPE_CHECKING:
    from pinakes.cli.frame.jobs import Start


def configure(parser: argparse.ArgumentParser) -> None:
    """Two folders of archive files; or two manifests; or files whose references are asked for."""
    parser.add_argument(
        "folders",
        metavar="BEFORE_DIR AFTER_DIR",
        nargs="*",
        help="folders of the original and the rewritten files; with --runner hadoop hdfs://…",
    )
    option = options_of(parser)
    option("--receipt FILE", "write a receipt, for commit-copy", type=Path)
    option(
        "--accept FILE",
        "accepted discrepancies, one JSON object per line: file, ordinal, code, who, why",
        type=Path,
    )
    option(
        "--replay URL-PREFIX",
        "replay a sample of revisits from this collection of a running pywb or OpenWayback",
    )
    parser.add_argument(
        "--manifests",
        metavar=("BEFORE", "AFTER"),
        nargs=2,
        type=Path,
        help="compare two manifests: quick, but no proof",
    )
    option("--refs WARC", "check that all references within these files resolve", nargs="+")
    option("--cdx FILE", "CDX or CDXJ of further originals", type=Path)
    option(
        "--dir, --originals FOLDER",
        "also look for originals in the archive files of this folder, or below a URL",
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
        return look_quickly(manifests[0], manifests[1], console)
    if refs:
        return check_references(refs, places, arguments.cdx, console)
    receipt, accept = arguments.receipt, arguments.accept
    if runner is not None:
        return _by_job(folders, places.folder, receipt, accept, runner, console)
    before, after = map(Path, folders)
    with console.progress("validate", total=size_before(before)) as progress:
        result = validate(
            before,
            after,
            accepted=read_accepted(accept) if accept else [],
            originals=places,
            index=arguments.cdx,
            replay=arguments.replay,
            on_problem=console.warn,
            advance=progress.advance,
        )
    say_findings(result, console)
    if receipt:
        write_receipt(receipt, result)
    console.say(validation_text(result))
    return Exit.DONE if result.passed else Exit.FOUND


def _by_job(
    folders: Sequence[str],
    originals: str | None,
    receipt: Path | None,
    accept: Path | None,
    runner: JobRunner,
    console: Console,
) -> Exit:
    from pinakes.mr_jobs.driver.running import run_job
    from pinakes.mr_jobs.validate import ValidateJob
    from pinakes.mr_jobs.validating import Receipted, run_validation

    if runner.print_only:
        runner.refuse({"--print with --receipt or --accept": receipt or accept})
    job = job_request(ValidateJob, folders, runner, originals=originals)
    if runner.print_only:
        return report_job(print_job_lines(job, runner, console), console)
    start: Start = partial(run_job, job)
    if receipt or accept:
        what = Receipted(
            request=job, folders=folders, accepted=read_accepted(accept) if accept else []
        )
        start = partial(
            run_validation,
            what,
            on_result=partial(write_receipt, receipt) if receipt else lambda result: None,
        )
    report = show_job_results(start, runner, console, discrepancy_line, verb="validate")
    return report_job(report, console)

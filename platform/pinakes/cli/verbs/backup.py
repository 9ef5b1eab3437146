"""`pinakes backup`: rows and files of a moment, copied to another place while work goes on."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone

from pinakes.application.backups import back_up, find_changed
from pinakes.backup.making import BackupReport
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.profile import open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """Where it goes."""
    parser.add_argument(
        "destination",
        metavar="DEST",
        help="an empty or new folder; on a cluster also hdfs://…",
    )
    option = options_of(parser)
    option("--verify", "make no backup: compare every file of the existing one with its checksum")
    option("-j, --jobs N", "number of files copied at once (default: 1)")
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Make it, or end one that was broken off; or verify."""
    configuration = configuration_of(arguments)
    if arguments.verify:
        return verify(arguments.destination, configuration, console)
    place = arguments.destination
    with (
        open_stores(configuration) as stores,
        console.progress("backup", unit="files") as progress,
    ):
        report = back_up(stores, configuration, place, advance=progress.advance)
    for problem in report.problems:
        console.warn(problem)
    console.result(_as_object(report), text=_sentences(report, place))
    return Exit.SOME_FAILED if report.problems else Exit.DONE


def verify(place: str, configuration: Configuration, console: Console) -> Exit:
    """A line for each file that is not what was written; exit 1 where there is one."""
    found = 0
    with console.progress("verify", unit="files") as progress:
        for problem in find_changed(configuration, place, advance=progress.advance):
            found += 1
            console.result({"file": problem.file, "message": problem.message}, text=str(problem))
    console.say(f"{found} found" if found else f"{place}: every file is what was written")
    return Exit.FOUND if found else Exit.DONE


def moment(milliseconds: int) -> str:
    """A time in UTC, to the millisecond, as people read it."""
    when = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_object(report: BackupReport) -> dict[str, object]:
    return {
        "backup": report.act,
        "watermark": moment(report.watermark_ms),
        "watermark_ms": report.watermark_ms,
        "files": report.files,
        "bytes": report.size,
        "went_on": report.went_on,
        "problems": [str(problem) for problem in report.problems],
    }


def _sentences(report: BackupReport, place: str) -> str:
    went_on = " (continuing an interrupted one)" * report.went_on
    return (
        f"{report.act}{went_on}: {count_of(report.files, 'file')}, {report.size:,} bytes in "
        f"{place}; "
        f"all that had ended by {moment(report.watermark_ms)} is in it"
    )

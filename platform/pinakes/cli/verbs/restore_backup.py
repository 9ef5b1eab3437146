"""`pinakes restore-backup`: an empty store becomes what a backup holds."""

from __future__ import annotations

import argparse

from pinakes.application.backups import restore
from pinakes.backup.restoring import RestoreReport
from pinakes.cli.frame.event_printer import next_command
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.backup import moment, verify
from pinakes.config import Configuration
from pinakes.counts import count_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Which backup; where the store is comes from the configuration, or `--store`."""
    parser.add_argument("source", metavar="SRC", help="folder or URL of the backup (its DEST)")
    add_dry_run(parser)
    add_settings(parser, "store", "cell_versions")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Restore it, a line for each act that was settled; with --dry-run, verify it only."""
    configuration = configuration_of(arguments)
    if arguments.dry_run:
        return verify(arguments.source, configuration, console)
    with console.progress("restore", unit="files") as progress:
        report = restore(configuration, arguments.source, advance=progress.advance)
    return _print(report, configuration, console)


def _print(report: RestoreReport, configuration: Configuration, console: Console) -> Exit:
    for settled in report.settled:
        console.result(
            {"code": settled.code, "file": settled.file, "message": settled.message},
            text=f"{printable(settled.file)}: {settled.code}: {settled.message}",
        )
    for name in report.left_out:
        console.result(
            {"code": "left-out", "file": name, "message": "later than the rows"},
            text=f"{printable(name)}: left out: the rows do not speak of it",
        )
    for problem in report.problems:
        console.warn(problem)
    console.say(
        f"{count_of(report.files, 'file')}, {report.size:,} bytes, as of "
        f"{moment(report.facts.watermark_ms)}; next: {next_command('fsck', configuration)}"
    )
    return Exit.SOME_FAILED if report.problems else Exit.DONE

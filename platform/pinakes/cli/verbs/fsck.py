"""`pinakes fsck`: do rows and files agree, what to do where they don't, and to undo that."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from pinakes.acts.actor import Actor
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.errors import ConfigError, Conflict, InputRefused, PinakesError
from pinakes.ingest.fsck import Fsck
from pinakes.ingest.fsck_findings import FsckFinding
from pinakes.ingest.tally import Tally
from pinakes.profile import open_stores

from .fsck_quarantine import accept, discard, show_quarantine, undo


@dataclass(frozen=True, slots=True, kw_only=True)
class FsckRequest:
    """How deep to look, and whether to mend."""

    repair: bool
    quick: bool
    full: bool
    seed: int


def configure(parser: argparse.ArgumentParser) -> None:
    """How deep to look, and whether to mend."""
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--repair", action="store_true", help="repair what can be repaired")
    act.add_argument(
        "--accept",
        metavar="FILE",
        help="go on with the bytes that a damaged archive file still has, as if it had landed so",
    )
    act.add_argument("--quarantine", action="store_true", help="list what repairs have replaced")
    act.add_argument("--undo", metavar="ID", help="put back what a repair has replaced")
    act.add_argument(
        "--discard",
        metavar="ID",
        help="delete a repair from the quarantine, or `all`, where nothing is a last copy; "
        "without --yes, say which",
    )
    parser.add_argument("--yes", action="store_true", help="with --discard: delete")
    depth = parser.add_mutually_exclusive_group()
    depth.add_argument("--quick", action="store_true", help="do not read archive files")
    depth.add_argument(
        "--full", action="store_true", help="read every record, and compare all rows with them"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the sample (default: 0)"
    )
    add_settings(parser, "store")
    add_metrics_file(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each finding; exit 1 where there was one, mended or not."""
    tally = Tally()
    if arguments.yes and arguments.discard is None:
        raise ConfigError("--yes goes with --discard only")
    request = FsckRequest(
        repair=arguments.repair, quick=arguments.quick, full=arguments.full, seed=arguments.seed
    )
    with metrics_file(arguments.metrics_file, "fsck", tally, console) as job:
        configuration = configuration_of(arguments)
        if arguments.accept is not None:
            job.exit = accept(arguments.accept, configuration, console)
        elif arguments.undo is not None:
            job.exit = undo(arguments.undo, configuration, console)
        elif arguments.quarantine:
            job.exit = show_quarantine(configuration, console)
        elif arguments.discard is not None:
            job.exit = discard(arguments.discard, configuration, console, sure=arguments.yes)
        else:
            job.exit = _look(request, configuration, tally, console)
    return job.exit


def _look(
    request: FsckRequest, configuration: Configuration, tally: Tally, console: Console
) -> Exit:
    found = left = 0
    failed = False
    with open_stores(configuration, tally=tally) as stores:
        fsck = Fsck(
            stores.rows,
            stores.archive,
            Actor(),
            quick=request.quick,
            full=request.full,
            seed=request.seed,
        )
        for finding in fsck.findings():
            found += 1
            mended = False
            repair: str | None = None
            problem: PinakesError | None = None
            if request.repair and finding.mend is not None:
                try:
                    repair = finding.mend()
                    mended = True
                except (Conflict, InputRefused) as error:
                    problem = error
            left += not mended
            text = _line(finding, mended, repair)
            console.result(_as_object(finding, mended, repair), text=text)
            if problem is not None:
                console.warn(problem)
                failed = True
    console.say(f"{found} found, {found - left} mended" if found else "nothing found")
    if failed:
        return Exit.SOME_FAILED
    return Exit.FOUND if found else Exit.DONE


def _as_object(finding: FsckFinding, mended: bool, repair: str | None) -> dict[str, object]:
    return {
        "code": finding.code,
        "file": finding.file,
        "message": finding.message,
        "repair": finding.repair,
        "mended": mended,
        "undo": repair,
    }


def _line(finding: FsckFinding, mended: bool, repair: str | None) -> str:
    if finding.repair is None:
        then = "not mended by --repair"
    else:
        then = f"mended: {finding.repair}" if mended else f"--repair: {finding.repair}"
    if repair is not None:
        then += f"; undo: pinakes fsck --undo {repair}"
    return f"{printable(finding.file)}: {finding.code}: {finding.message}; {then}"

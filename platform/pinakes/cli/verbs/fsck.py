"""`pinakes fsck`: do rows and files agree, and what to do where they don't."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console, printable
from pinakes.config import Configuration
from pinakes.errors import Conflict, InputRefused, PinakesError
from pinakes.ingest.acts import Actor
from pinakes.ingest.fsck import Fsck
from pinakes.ingest.fsck_findings import FsckFinding
from pinakes.ingest.tally import Tally
from pinakes.profile import open_stores


@dataclass(frozen=True, slots=True, kw_only=True)
class FsckRequest:
    """How deep to look, and whether to mend."""

    repair: bool
    quick: bool
    full: bool
    seed: int


def configure(parser: argparse.ArgumentParser) -> None:
    """How deep to look, and whether to mend."""
    parser.add_argument("--repair", action="store_true", help="repair what can be repaired")
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
    request = FsckRequest(
        repair=arguments.repair, quick=arguments.quick, full=arguments.full, seed=arguments.seed
    )
    with metrics_file(arguments.metrics_file, "fsck", tally, console) as job:
        job.exit = _look(request, configuration_of(arguments), tally, console)
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
            problem: PinakesError | None = None
            if request.repair and finding.mend is not None:
                try:
                    finding.mend()
                    mended = True
                except (Conflict, InputRefused) as error:
                    problem = error
            left += not mended
            console.result(_as_object(finding, mended), text=_line(finding, mended))
            if problem is not None:
                console.warn(problem)
                failed = True
    console.say(f"{found} found, {found - left} mended" if found else "nothing found")
    if failed:
        return Exit.SOME_FAILED
    return Exit.FOUND if found else Exit.DONE


def _as_object(finding: FsckFinding, mended: bool) -> dict[str, object]:
    return {
        "code": finding.code,
        "file": finding.file,
        "message": finding.message,
        "repair": finding.repair,
        "mended": mended,
    }


def _line(finding: FsckFinding, mended: bool) -> str:
    if finding.repair is None:
        then = "not mended by --repair"
    else:
        then = f"mended: {finding.repair}" if mended else f"--repair: {finding.repair}"
    return f"{printable(finding.file)}: {finding.code}: {finding.message}; {then}"

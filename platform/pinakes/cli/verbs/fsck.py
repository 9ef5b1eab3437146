"""`pinakes fsck`: do rows and files agree, what to do where they don't, and to undo that."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pinakes.application.checking import StoreFinding, check_store
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import add_metrics_file, metrics_file
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.errors import ConfigError
from pinakes.ingest.tally import Tally
from pinakes.profile import open_stores

from .fsck_quarantine import accept, discard, show_quarantine, undo

_FIELDS = ("code", "file", "message", "repair", "mended", "undo")


def configure(parser: argparse.ArgumentParser) -> None:
    """How deep to look, and whether to mend."""
    act = options_of(parser.add_mutually_exclusive_group())
    act("--repair", "repair what can be repaired")
    act(
        "--accept FILE",
        "go on with the bytes that a damaged archive file still has, as if it had landed so",
    )
    act("--quarantine", "list what repairs have replaced")
    act("--undo ID", "put back what a repair has replaced")
    act(
        "--discard ID",
        "delete a repair from the quarantine, or `all`, where nothing is a last copy; "
        "without --yes, say which",
    )
    option = options_of(parser)
    option("--yes", "with --discard: delete")
    depth = options_of(parser.add_mutually_exclusive_group())
    depth("--quick", "do not read archive files")
    depth("--full", "read every record, and compare all rows with them")
    option("--seed N", "seed of the sample (default: 0)", type=int, default=0)
    add_settings(parser, "store")
    add_metrics_file(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each finding; exit 1 where there was one, mended or not."""
    tally = Tally()
    if arguments.yes and arguments.discard is None:
        raise ConfigError("--yes goes with --discard only")
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
            with open_stores(configuration, tally=tally) as stores:
                found = check_store(
                    stores,
                    quick=arguments.quick,
                    full=arguments.full,
                    seed=arguments.seed,
                    repair=arguments.repair,
                )
                job.exit = _say(found, console)
    return job.exit


def _say(findings: Iterable[StoreFinding], console: Console) -> Exit:
    found = mended = 0
    failed = False
    for one in findings:
        found += 1
        mended += one.mended
        console.result({name: getattr(one, name) for name in _FIELDS}, text=_line(one))
        if one.problem is not None:
            console.warn(one.problem)
            failed = True
    console.say(f"{found} found, {mended} mended" if found else "nothing found")
    if failed:
        return Exit.SOME_FAILED
    return Exit.FOUND if found else Exit.DONE


def _line(one: StoreFinding) -> str:
    if one.repair is None:
        then = "not mended by --repair"
    else:
        then = f"mended: {one.repair}" if one.mended else f"--repair: {one.repair}"
    if one.undo is not None:
        then += f"; undo: pinakes fsck --undo {one.undo}"
    return f"{printable(one.file)}: {one.code}: {one.message}; {then}"

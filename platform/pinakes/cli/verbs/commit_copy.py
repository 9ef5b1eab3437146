"""`pinakes commit-copy`: the validated set over the second copy; nothing is deleted."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run
from pinakes.cli.frame.output import Console, printable
from pinakes.dedupe.copy.commit_copy import commit_copy, plan_copy
from pinakes.dedupe.copy.copy_steps import DONE
from pinakes.dedupe.validate.receipt import read_receipt


def configure(parser: argparse.ArgumentParser) -> None:
    """The validated files, the copy, and the receipt that says so."""
    parser.add_argument("source", metavar="SRC", type=Path, help="the files that were validated")
    parser.add_argument(
        "target", metavar="DST", type=Path, help="the second copy, as it was before"
    )
    parser.add_argument(
        "--receipt",
        metavar="FILE",
        type=Path,
        required=True,
        help="what `pinakes validate` wrote of the two",
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; everything is checked before anything is written."""
    receipt = read_receipt(arguments.receipt)
    today = datetime.now(timezone.utc).date().isoformat()
    size = sum(facts.size + facts.before_size for facts in receipt.files)
    with console.progress("check", total=size) as progress:
        plan = plan_copy(
            arguments.source, arguments.target, receipt, today=today, advance=progress.advance
        )
    for step in plan.steps:
        kept = None if step.state == DONE else str(step.superseded)
        text = "is done already" if kept is None else f"the old one goes to {kept}"
        console.result(
            {"file": step.facts.name, "state": step.state, "superseded": kept},
            text=printable(f"{step.facts.name}: {text}"),
        )
    if arguments.dry_run:
        console.say(f"all checks passed; {plan.bytes_to_write:,} bytes would be written")
        return Exit.DONE
    with console.progress("commit", total=sum(s.facts.size for s in plan.steps)) as progress:
        written = commit_copy(plan, advance=progress.advance)
    console.say(f"{written} files written and read back; nothing was deleted")
    return Exit.DONE

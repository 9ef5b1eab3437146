"""`pinakes commit-copy`: the validated set over the second copy; nothing is deleted."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.jobs import JobRunner, add_runner, report_job, runner_of, show_job_results
from pinakes.cli.frame.options import add_dry_run, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.dedupe.copy.commit_copy import DONE, CopyRequest, commit_copy, plan_copy
from pinakes.dedupe.validate.receipt import read_receipt


def configure(parser: argparse.ArgumentParser) -> None:
    """The validated files, the copy, and the receipt that says so."""
    parser.add_argument(
        "source",
        metavar="SRC",
        help="folder of the validated files; with --runner also hdfs://…",
    )
    parser.add_argument(
        "target",
        metavar="DST",
        help="folder of the second copy, not yet rewritten; with --runner hadoop hdfs://…",
    )
    options_of(parser)(
        "--receipt FILE", "receipt written by `pinakes validate`", type=Path, required=True
    )
    add_dry_run(parser)
    add_runner(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; everything is checked before anything is written."""
    request = CopyRequest(
        source=arguments.source,
        target=arguments.target,
        receipt=read_receipt(arguments.receipt),
        today=datetime.now(timezone.utc).date().isoformat(),
        dry_run=arguments.dry_run,
    )
    runner = runner_of(arguments)
    return _commit(request, console) if runner is None else _by_job(request, runner, console)


def _commit(request: CopyRequest, console: Console) -> Exit:
    size = sum(facts.size + facts.before_size for facts in request.receipt.files)
    with console.progress("check", total=size) as progress:
        plan = plan_copy(
            Path(request.source),
            Path(request.target),
            request.receipt,
            today=request.today,
            advance=progress.advance,
        )
    for step in plan.steps:
        kept = None if step.state == DONE else str(step.superseded)
        result = {"file": step.facts.name, "state": step.state, "superseded": kept}
        console.result(result, text=_line(result))
    if request.dry_run:
        console.say(f"all checks passed; {plan.bytes_to_write:,} bytes would be written")
        return Exit.DONE
    with console.progress("commit", total=sum(s.facts.size for s in plan.steps)) as progress:
        written = commit_copy(plan, advance=progress.advance)
    console.say(f"{count_of(written, 'file')} written and read back; nothing was deleted")
    return Exit.DONE


def _by_job(request: CopyRequest, runner: JobRunner, console: Console) -> Exit:
    from pinakes.mr_jobs.commit_copy import run_commit_copy

    start = partial(run_commit_copy, request)
    return report_job(show_job_results(start, runner, console, _line, verb="commit-copy"), console)


def _line(result: Mapping[str, Any]) -> str:
    kept = result["superseded"]
    text = "already done" if kept is None else f"the old file goes to {kept}"
    return printable(f"{result['file']}: {text}")

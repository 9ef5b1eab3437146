"""`pinakes withdraw`: take captures down, wherever their bytes lie in the store."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Callable, Iterable

from pinakes.application.deleting import withdraw_captures
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.verbs.crawl_deletion import not_finished
from pinakes.deletion.requests import PROMOTE, WITHDRAW, WithdrawalReport, WithdrawalRequest
from pinakes.errors import ConfigError
from pinakes.profile import open_stores


def configure(parser: argparse.ArgumentParser) -> None:
    """What to take down, why, and what becomes of references."""
    parser.add_argument(
        "targets",
        metavar="CAPTURE|DIGEST|URL",
        nargs="+",
        help="a capture, as printed by timeline; all copies of a body, by its sha1 or sha256; "
        "or all captures of a URL",
    )
    option = options_of(parser)
    option("--reason TEXT", "why; kept in the store (required, but for --plan)")
    option("--by NAME", "who asks for it; kept in the store (default: your user name)")
    option(
        "--references",
        "revisits of a withdrawn original: promote makes the earliest a full record again, to "
        "which the others refer (default); withdraw takes them down, too",
        choices=(PROMOTE, WITHDRAW),
        default=PROMOTE,
    )
    option("--plan", "show which captures, files and references it concerns; change nothing")
    add_dry_run(parser)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Take down, or say what would be."""
    only_says = arguments.plan or arguments.dry_run
    if not only_says and not (arguments.reason or "").strip():
        raise ConfigError("say why, with --reason TEXT: it is kept with what was withdrawn")
    request = WithdrawalRequest(
        targets=tuple(arguments.targets),
        reason=arguments.reason or "",
        by=arguments.by or ("" if only_says else _user()),
        references=arguments.references,
    )
    is_complete = True
    with open_stores(configuration_of(arguments)) as stores:
        for report in withdraw_captures(stores, request, plan=only_says):
            _say(report, console, only_says=only_says, details=arguments.plan)
            is_complete &= report.is_complete
    return Exit.DONE if is_complete else Exit.SOME_FAILED


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container started with a number, for one
        why = "this user has no name here: say who asks for it, with --by NAME"
        raise ConfigError(why) from None


def _say(report: WithdrawalReport, console: Console, *, only_says: bool, details: bool) -> None:
    for revisit, original in report.unprovided:
        console.warn(
            f"[{revisit}] is a revisit of [{original}] that a crawler wrote",
            kind="revisits by crawlers of what would be withdrawn",
        )
    for problem in report.problems:
        console.warn(problem)
    outcome = _outcome(report, only_says=only_says)
    size = sum(generation.size for generation in report.generations)
    lines: list[str] = []
    summary = (
        f"{report.collection}: {outcome}; {len(report.captures)} captures in "
        f"{len(report.files)} files, {len(report.generations)} old generations of {size} bytes, "
        f"{len(report.promoted)} references full again, {len(report.repointed)} re-pointed"
    )
    if details and report.is_complete:
        lines += _listed("withdraw", report.captures)
        lines += _listed("make full", report.promoted)
        lines += _listed("re-point", report.repointed)
        lines += _listed("rewrite", report.files)
        lines += _listed("delete", report.generations, lambda g: f"{g.file}, {g.size} bytes")
    console.result(
        {"collection": report.collection, "outcome": outcome, **report.as_json()},
        text="\n".join((summary, *lines)),
    )


def _listed(what: str, items: Iterable[object], words: Callable[..., str] = str) -> list[str]:
    return [f"  {what}  {printable(words(item))}" for item in items]


def _outcome(report: WithdrawalReport, *, only_says: bool) -> str:
    if report.unprovided:
        return (
            "refused: revisits by crawlers refer to it, and hold no bytes of their own; nothing "
            "was changed: name them, too, or use --references withdraw"
        )
    if report.refused_in:
        return f"nothing was changed: refused in {', '.join(report.refused_in)}"
    if report.problems:
        return not_finished(report, only_says=only_says)
    if not report.captures and not report.generations:
        return "withdrawn already"
    return "would be withdrawn" if only_says else f"{report.records} records withdrawn"

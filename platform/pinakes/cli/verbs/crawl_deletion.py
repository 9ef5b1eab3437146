"""Deletions as verbs have them: the option, and what is said."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pinakes.catalog.reference_finder import CrossCrawlReference
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.deletion.requests import (
    FORCE,
    LISTED,
    PROMOTE,
    REFUSE,
    CrawlDeletion,
    DeletionReport,
    WithdrawalReport,
)


def add_references(parser: argparse.ArgumentParser, whose: str) -> None:
    """The option `--references`."""
    options_of(parser)(
        "--references",
        f"{whose}: refuse lists them, and changes nothing (default); promote makes the "
        "earliest copy left a full record again, to which the others refer; force leaves them "
        "without an original",
        choices=(REFUSE, PROMOTE, FORCE),
        default=REFUSE,
    )


def add_purge_options(parser: argparse.ArgumentParser) -> None:
    """The options of `pinakes crawl purge`."""
    add_references(parser, "captures of other crawls that refer to it")
    options_of(parser)(
        "--plan", "show what becomes of references, bytes freed and added; change nothing"
    )


def not_finished(report: DeletionReport | WithdrawalReport, *, only_says: bool) -> str:
    """What to do after a deletion, or a plan of one, with problems, which were printed."""
    if only_says:
        return "would be refused: see above"
    return f"not finished: {'run it again' if report.is_to_go_on else 'see above'}"


def say_removal(
    report: DeletionReport, how: CrawlDeletion, console: Console, *, only_says: bool
) -> None:
    """Say what `remove` or `cancel` did, or would do."""
    _warn_of(report.references, "captures that refer to this crawl", console)
    for problem in report.problems:
        console.warn(problem)
    if report.references:
        outcome = "refused: captures of other crawls refer to it; nothing was changed"
    elif report.problems:
        outcome = not_finished(report, only_says=only_says)
    else:
        outcome = f"would be {how.after}" if only_says else how.after
    console.result(
        {
            "crawl": report.crawl,
            "outcome": outcome,
            "files": report.files,
            "captures": report.captures,
            "bytes": report.freed_bytes,
            "references": [reference._asdict() for reference in report.references],
        },
        text=f"{report.crawl}: {outcome}; {count_of(report.files, 'file')}, "
        f"{count_of(report.captures, 'capture')}, "
        f"{report.freed_bytes} bytes",
    )


def say_purge(
    report: DeletionReport,
    console: Console,
    *,
    only_says: bool = False,
    lists_changes: bool = False,
) -> None:
    """Say what a purge did, or would do; `lists_changes`: also by capture."""
    _warn_of(report.references, "captures that refer to this crawl", console)
    _warn_of(report.dangling, "captures left without an original", console)
    for problem in report.problems:
        console.warn(problem)
    outcome = _outcome(report, only_says=only_says)
    summary = (
        f"{report.crawl}: {outcome}; {count_of(report.files, 'file')}, "
        f"{count_of(report.captures, 'capture')}, "
        f"{report.freed_bytes} bytes freed, about {report.added_bytes} added; "
        f"{count_of(len(report.promoted) + len(report.filled), 'reference')} full again, "
        f"{len(report.repointed)} re-pointed, {len(report.dangling)} dangling"
    )
    lines = [f"{report.crawl}: {outcome}" if report.references else summary]
    if lists_changes:
        lines += [f"  make full  {printable(key)}" for key in report.promoted]
        lines += [f"  make full, by a crawler  {printable(key)}" for key in report.filled]
        lines += [f"  re-point  {printable(key)}" for key in report.repointed]
    console.result({"outcome": outcome, **report.as_json()}, text="\n".join(lines))


def _warn_of(references: Sequence[CrossCrawlReference], kind: str, console: Console) -> None:
    for reference in references:
        console.warn(
            f"{reference.archive_file}: [{reference.capture}] refers to [{reference.original}]",
            kind=kind,
        )
    if len(references) == LISTED:
        console.warn(f"more than {LISTED:,} captures may refer to this crawl: no more are listed")


def _outcome(report: DeletionReport, *, only_says: bool) -> str:
    if report.references:
        return (
            "refused: captures of other crawls refer to it; nothing was changed: use --references "
            "promote"
        )
    if report.problems:
        if only_says:
            return "could not be purged: see above"
        is_untouched = not (report.files or report.is_to_go_on)
        nothing = "; nothing of it was deleted" if is_untouched else ""
        return f"{not_finished(report, only_says=only_says)}{nothing}"
    if report.was_purged:
        return "was purged already"
    return "would be purged" if only_says else "purged"

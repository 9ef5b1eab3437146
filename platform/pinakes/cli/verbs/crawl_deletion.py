"""Deletions as verbs have them: the option, and what is said."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from pinakes.catalog.reference_finder import CrossCrawlReference
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.deletion.requests import (
    LISTED,
    REFERENCES,
    REFUSE,
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
        choices=REFERENCES,
        default=REFUSE,
    )


def add_removal_options(parser: argparse.ArgumentParser) -> None:
    """The options of `pinakes crawl remove`."""
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
    report: DeletionReport,
    console: Console,
    *,
    only_says: bool = False,
    lists_changes: bool = False,
) -> None:
    """Say what the removal of a crawl did, or would do; `lists_changes`: also by capture."""
    _warn_of(report.references, "captures that refer to this crawl", console)
    _warn_of(report.dangling, "captures left without an original", console)
    for problem in report.problems:
        console.warn(problem)
    outcome = _outcome(report, only_says=only_says)
    lines = [f"{report.crawl}: {outcome}"]
    if not (report.references or report.was_gone or report.problems):
        lines[0] += f"; {', '.join(_what_goes(report))}{_what_changes(report)}"
    if lists_changes:
        lines += [f"  make full  {printable(key)}" for key in report.promoted]
        lines += [f"  make full, by a crawler  {printable(key)}" for key in report.filled]
        lines += [f"  re-point  {printable(key)}" for key in report.repointed]
    console.result({"outcome": outcome, **report.as_json()}, text="\n".join(lines))


def _what_goes(report: DeletionReport) -> Iterator[str]:
    yield count_of(report.files, "file")
    yield count_of(report.captures, "capture")
    yield f"{count_of(report.freed_bytes, 'byte')} freed"
    if report.added_bytes:
        yield f"about {report.added_bytes:,} added"
    if report.superseded:
        yield f"{count_of(len(report.superseded), 'older generation')} of other files gone, too"


def _what_changes(report: DeletionReport) -> str:
    """What becomes of references to the crawl; nothing where there are none."""
    counts = {
        "full again": len(report.promoted) + len(report.filled),
        "re-pointed": len(report.repointed),
        "dangling": len(report.dangling),
    }
    said = [f"{number:,} {what}" for what, number in counts.items() if number]
    return f"; references: {', '.join(said)}" if said else ""


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
            return "could not be removed: see above"
        is_untouched = not (report.files or report.is_to_go_on)
        nothing = "; nothing of it was deleted" if is_untouched else ""
        return f"{not_finished(report, only_says=only_says)}{nothing}"
    if report.was_gone:
        return "was removed already"
    return "would be removed" if only_says else "removed"

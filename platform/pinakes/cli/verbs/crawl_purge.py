"""Purging crawls as verbs do it: what is asked, what is said; and several, in which order."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import PURGED, PURGING
from pinakes.catalog.reference_finder import Reference
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import (
    FORCE,
    LISTED,
    PROMOTE,
    REFUSE,
    DeletionReport,
    PurgeRequest,
)
from pinakes.profile import Stores


def add_references(parser: argparse.ArgumentParser, whose: str) -> None:
    """The option `--references`."""
    parser.add_argument(
        "--references",
        choices=(REFUSE, PROMOTE, FORCE),
        default=REFUSE,
        help=f"{whose}: refuse lists them, and changes nothing (default); promote makes the "
        "earliest copy left a full record again, to which the others refer; force leaves them "
        "without an original",
    )


def purge(
    stores: Stores,
    request: PurgeRequest,
    console: Console,
    *,
    only_says: bool = False,
    lists_changes: bool = False,
) -> DeletionReport:
    """Purge a crawl, or say what would be done, and what becomes of references.

    `lists_changes`: also by capture.
    """
    purger = _purger(stores)
    report = purger.plan(request) if only_says else purger.purge(request)
    _say(report, console, only_says=only_says, lists_changes=lists_changes)
    return report


def purge_all(
    stores: Stores, crawls: Iterable[str], collection: str, references: str, console: Console
) -> Iterator[DeletionReport]:
    """Purge crawls of a collection one after the other, those first to which nothing refers.

    So what refers to another of them goes with it, and is not made full before.  Before them all,
    one that a process left when it died: no other can go until it has, and it may be none of
    these any more.
    """
    left = list(crawls)
    begun = _purger(stores).unfinished(collection)
    if begun is not None and (begun.crawl in left or begun.state in (PURGING, PURGED)):
        left = [crawl for crawl in left if crawl != begun.crawl]
        yield purge(stores, PurgeRequest(crawl=begun.crawl, references=references), console)
    goes_on = True
    while left and goes_on:
        waiting = []
        for crawl in left:
            report = _purger(stores).purge(PurgeRequest(crawl=crawl))
            if report.references:
                waiting.append(crawl)
                continue
            _say(report, console)
            yield report
        goes_on, left = len(waiting) < len(left), waiting
    for crawl in left:
        yield purge(stores, PurgeRequest(crawl=crawl, references=references), console)


def _purger(stores: Stores) -> Purger:
    software = SOFTWARE
    return Purger(stores.rows, stores.archive, stores.runs_folder, Actor(), software=software)


def _say(
    report: DeletionReport,
    console: Console,
    *,
    only_says: bool = False,
    lists_changes: bool = False,
) -> None:
    warn_of(report.references, "captures that refer to this crawl", console)
    warn_of(report.dangling, "captures left without an original", console)
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


def warn_of(references: Sequence[Reference], kind: str, console: Console) -> None:
    """Name captures that refer to a crawl."""
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
        if report.is_to_go_on:
            return "not finished: run it again"
        nothing = "" if report.files else "; nothing of it was deleted"
        return f"not finished: see above{nothing}"
    if report.was_purged:
        return "was purged already"
    return "would be purged" if only_says else "purged"

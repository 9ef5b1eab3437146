"""`pinakes crawl list` and `show`: crawls, and what is known of each."""

from __future__ import annotations

from collections import defaultdict

from pinakes.catalog.browsertrix_counts import BrowsertrixCounts, count_as_browsertrix
from pinakes.catalog.crawl_rows import (
    COMMITTED,
    CrawlEntry,
    lost_crawl,
    require_crawl,
    scan_crawls,
    scan_lost_crawls,
)
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.file_rows import FileEntry, scan_entries, scan_inflight
from pinakes.catalog.reported import Report, find_open_scope, scan_not_landed
from pinakes.catalog.wacz_rows import ListedWacz, scan_wacz_files
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.hbase_schema.seen_cells import CommitFindings
from pinakes.profile import Stores

_MOST_REPORTS = 1000
"""At most so many reported captures that have not landed are listed."""


def list_crawls(stores: Stores, console: Console, *, counts: bool) -> bool:
    """A line for each crawl; with `counts` also one for each collection, of what is committed.

    Whether all crawls could be listed: a crawl whose row is lost is named in a warning.
    """
    sums: dict[str, BrowsertrixCounts] = defaultdict(BrowsertrixCounts)
    for entry in scan_crawls(stores.rows):
        found = _count(stores, entry) if counts else None
        _say(stores, entry, console, found, {})
        if found is not None and entry.state == COMMITTED:
            sums[entry.facts.collection].add(found)
    for collection, total in sorted(sums.items()):
        console.result(
            {"committed_of": collection, **total.as_json()},
            text=f"all committed crawls of {collection}: {_counts_text(total)}",
        )
    lost = list(scan_lost_crawls(stores.rows))
    for file in lost:
        console.warn(lost_crawl(file))
    return not lost


def show_crawl(stores: Stores, crawl: str, console: Console, *, counts: bool) -> None:
    """The crawl, its WACZ files and archive files, and reported captures that have not landed."""
    entry = require_crawl(stores.rows, crawl)
    found = _count(stores, entry) if counts else None
    landed, missing, reports = _reports(stores, crawl)
    known: dict[str, int] = {}
    if entry.is_settled and entry.findings is not None:
        known = findings_json(entry.findings)
    elif landed or missing:
        known = {"reports_landed": landed, "reports_not_landed": missing}
    _say(stores, entry, console, found, known)
    for listed in scan_wacz_files(stores.rows, entry.facts.collection, crawl):
        _say_wacz(listed, console)
    hidden = scan_inflight(stores.rows)
    for file in scan_entries(stores.rows, crawl):
        if file.state is not None:
            _say_file(file, console, hides=file.archive_file in hidden)
    for report in reports:
        _say_report(report, console)
    if missing > len(reports):
        console.say(
            f"and {count_of(missing - len(reports), 'more reported capture')} that never landed"
        )


def findings_json(found: CommitFindings) -> dict[str, int]:
    """What a commit found, under the names of `--json`."""
    return {
        "reports_landed": found.landed,
        "reports_never_landed": found.never_landed,
        "unresolved": found.unresolved,
        "unresolved_reported": found.to_reported,
    }


def _count(stores: Stores, entry: CrawlEntry) -> BrowsertrixCounts:
    return count_as_browsertrix(stores.rows, stores.archive, entry.crawl, entry.facts.collection)


def _reports(stores: Stores, crawl: str) -> tuple[int, int, list[Report]]:
    """Of an open crawl: how many reported captures landed and did not, and the first of these."""
    scope = find_open_scope(stores.rows, crawl)
    landed = missing = 0
    listed: list[Report] = []
    for known, some in scan_not_landed(stores.rows, scope) if scope is not None else ():
        landed += known
        missing += len(some)
        listed += some[: _MOST_REPORTS - len(listed)]
    return landed, missing, listed


def _say(
    stores: Stores,
    entry: CrawlEntry,
    console: Console,
    counts: BrowsertrixCounts | None,
    reports: dict[str, int],
) -> None:
    totals = read_totals(stores.rows, entry.crawl)
    numbers = {name: totals.now(name) for name in ("files", "captures", "bytes")}
    line = f"{entry.crawl}  {entry.state}  {entry.facts.collection}  "
    line += ", ".join(count_of(number, name.removesuffix("s")) for name, number in numbers.items())
    line += " landed"
    if counts is not None:
        line += f"; {_counts_text(counts)}"
    if reports:
        line += "; " + ", ".join(
            f"{number} {name.replace('_', ' ')}" for name, number in reports.items() if number
        )
    console.result(
        {
            "crawl": entry.crawl,
            "collection": entry.facts.collection,
            "state": entry.state,
            "source": entry.facts.source,
            "description": entry.facts.description,
            **numbers,
            **(counts.as_json() if counts is not None else {}),
            **reports,
        },
        text=line.removesuffix("; "),
    )


def _counts_text(counts: BrowsertrixCounts) -> str:
    return (
        f"{count_of(counts.total_urls, 'URL')}, {counts.dupe_urls} of them duplicates, "
        f"{counts.total_crawl_size} bytes crawled, {counts.conserved_size} conserved"
    )


def _say_wacz(listed: ListedWacz, console: Console) -> None:
    wacz = listed.wacz
    captures = "- captures" if wacz.captures is None else count_of(wacz.captures, "capture")
    console.result(
        {
            "wacz": listed.name,
            "sha256": wacz.sha256,
            "bytes": wacz.size,
            "files": wacz.files,
            "captures": wacz.captures,
            "source": wacz.source,
        },
        text=f"  {printable(listed.name)}  WACZ  {captures}  {wacz.size} bytes",
    )


def _say_file(file: FileEntry, console: Console, *, hides: bool) -> None:
    facts = file.facts
    size = facts.size if facts is not None else None
    console.result(
        {
            "file": file.archive_file,
            "state": file.state,
            "generation": file.generation,
            "bytes": size,
            "sha256": facts.sha256 if facts is not None else None,
            "captures": facts.captures if facts is not None else None,
            "hidden": hides,
        },
        text=f"  {printable(file.archive_file)}  {file.state}  generation {file.generation}  "
        f"{'-' if size is None else size} bytes landed{'  hidden' if hides else ''}",
    )


def _say_report(report: Report, console: Console) -> None:
    seen = report.seen
    console.result(
        {
            "reported": seen.url,
            "date": seen.date,
            "digest": str(report.digest),
            "in": seen.file,
        },
        text=f"  {printable(seen.url)}  {printable(seen.date)}  {report.digest}  reported, has not "
        "landed",
    )

"""`pinakes crawl list` and `show`: crawls, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from pinakes.application.crawls import (
    CrawlSummary,
    StoredFile,
    list_crawls,
    list_files,
    list_lost,
    read_reported,
    read_summary,
    sum_committed,
)
from pinakes.catalog.browsertrix_counts import BrowsertrixCounts
from pinakes.catalog.reported import Report
from pinakes.catalog.wacz_rows import ListedWacz, scan_wacz_files
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.profile import Stores


def say_crawls(stores: Stores, console: Console, *, counts: bool) -> bool:
    """A line for each crawl; with `counts` also one for each collection, of what is committed.

    Whether all crawls could be listed: a crawl whose row is lost is named in a warning.
    """

    def said() -> Iterator[CrawlSummary]:
        for crawl in list_crawls(stores, counts=counts):
            _say(crawl, {}, console)
            yield crawl

    for collection, total in sum_committed(said()).items():
        console.result(
            {"committed_of": collection, **total.as_json()},
            text=f"all committed crawls of {collection}: {_counts_text(total)}",
        )
    lost = list(list_lost(stores))
    for problem in lost:
        console.warn(problem)
    return not lost


def say_crawl(stores: Stores, crawl: str, console: Console, *, counts: bool) -> None:
    """The crawl, its WACZ files and archive files, and reported captures that have not landed."""
    summary = read_summary(stores, crawl, counts=counts)
    reported = read_reported(stores, crawl)
    _say(summary, reported.numbers, console)
    for listed in scan_wacz_files(stores.rows, summary.collection, crawl):
        _say_wacz(listed, console)
    for file in list_files(stores, crawl):
        _say_file(file, console)
    for report in reported.waiting:
        _say_report(report, console)
    if reported.more:
        console.say(f"and {count_of(reported.more, 'more reported capture')} that never landed")


def _say(crawl: CrawlSummary, reports: Mapping[str, int], console: Console) -> None:
    held = (
        f"{count_of(crawl.files, 'file')}, {count_of(crawl.captures, 'capture')}, "
        f"{count_of(crawl.bytes, 'byte')} landed"
    )
    line = f"{crawl.crawl}  {crawl.state}  {crawl.collection}  {held}"
    value = asdict(crawl)
    del value["counts"]
    if crawl.counts is not None:
        line += f"; {_counts_text(crawl.counts)}"
        value |= crawl.counts.as_json()
    if reports:
        line += "; " + ", ".join(
            f"{number} {name.replace('_', ' ')}" for name, number in reports.items() if number
        )
    console.result({**value, **reports}, text=line.removesuffix("; "))


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


def _say_file(file: StoredFile, console: Console) -> None:
    size = "-" if file.bytes is None else file.bytes
    console.result(
        asdict(file),
        text=f"  {printable(file.file)}  {file.state}  generation {file.generation}  "
        f"{size} bytes landed{'  hidden' if file.hidden else ''}",
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

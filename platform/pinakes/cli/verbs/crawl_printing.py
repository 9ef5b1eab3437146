"""What `pinakes crawl` says: of crawls, of each, of a commit, of what it requires and holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby

from pinakes.application.crawls import (
    CrawlStatistics,
    CrawlSummary,
    Needs,
    StoredFile,
    findings_of,
    list_crawls,
    list_files,
    list_lost,
    read_reported,
    read_summary,
    sum_committed,
)
from pinakes.catalog.browsertrix_counts import BrowsertrixCounts
from pinakes.catalog.crawl_rows import GONE
from pinakes.catalog.reported import Report
from pinakes.catalog.required_files import StoredRequirement
from pinakes.catalog.requirements import Requirement
from pinakes.catalog.wacz_rows import ListedWacz, scan_wacz_files
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.ingest.commit import Commit
from pinakes.profile import Stores

_MOST_SHOWN = 20


def say_crawls(stores: Stores, console: Console, *, counts: bool, ended: bool) -> bool:
    """A line for each crawl; with `counts` also one for each collection, of what is committed.

    `ended`: also of crawls that were removed; else their number is said.  Whether all crawls could
    be listed: a crawl whose row is lost is named in a warning.
    """
    hidden = 0

    def said() -> Iterator[CrawlSummary]:
        nonlocal hidden
        for crawl in list_crawls(stores, counts=counts):
            if crawl.state in GONE and not ended:
                hidden += 1
                continue
            _say(crawl, {}, console)
            yield crawl

    for collection, total in sum_committed(said()).items():
        console.result(
            {"committed_of": collection, **total.as_json()},
            text=f"all committed crawls of {collection}: {_counts_text(total)}",
        )
    if hidden:
        console.say(f"{count_of(hidden, 'removed crawl')} not shown: --all")
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
        f"{count_of(crawl.bytes, 'byte')} landed, {crawl.stored_bytes:,} now"
    )
    if crawl.old_generations:
        old = count_of(crawl.old_generations, "old generation")
        held += f", {count_of(crawl.old_bytes, 'byte')} in {old}"
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
        f"{counts.total_crawl_size:,} bytes crawled, {counts.conserved_size:,} conserved"
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
        text=f"  {printable(listed.name)}  WACZ  {captures}  {wacz.size:,} bytes",
    )


def _say_file(file: StoredFile, console: Console) -> None:
    now, landed = ("-" if n is None else f"{n:,}" for n in (file.bytes, file.landed_bytes))
    size = f"{landed} bytes" + ("" if now == landed else f" landed, {now} now")
    console.result(
        asdict(file),
        text=f"  {printable(file.file)}  {file.state}  generation {file.generation}  "
        f"{size}{'  hidden' if file.hidden else ''}",
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


def say_commit(crawl: str, done: Commit, console: Console, *, dry_run: bool) -> None:
    """What became of it, and what it found of reports and references."""
    for one in done.unresolved:
        console.warn(
            f"[{one.capture}] refers to {printable(one.target_uri)} {printable(one.date)}",
            kind="revisits of this crawl that refer to nothing in the store",
        )
    would = "would be " if dry_run else ""
    words = f"{would}committed" if done.is_new else "was committed already"
    found = done.findings
    line = f"{crawl}: {words}"
    if found.landed or found.never_landed:
        line += f"; {count_of(found.never_landed, 'reported capture')} never landed"
    if found.unresolved:
        line += (
            f"; {count_of(found.unresolved, 'revisit refers', 'revisits refer')} to nothing in "
            "the store"
        )
    if found.to_reported:
        line += f", {found.to_reported} of them to captures that were reported"
    console.result({"crawl": crawl, "outcome": words, **findings_of(found)}, text=line)


def say_requirements(crawl: str, needs: Needs, console: Console) -> None:
    """What it needs of others, and they of it, by crawl and file."""
    found = needs.found
    lines = [f"{crawl}  {needs.state}"]
    lines += ["needs:", *_required(found.needs, lambda one: crawl_of(one.requires))]
    lines += ["needed by:", *_required(found.needed_by, lambda one: crawl_of(one.archive_file))]
    if needs.declared:
        lines += ["its WACZ files say that they need:"]
        lines += [_declared(one, found.unresolved) for one in needs.declared]
    lines += [f"unresolved: {found.unresolved}"]
    console.result(
        {
            "crawl": crawl,
            "state": needs.state,
            "needs": [one._asdict() for one in found.needs],
            "needed_by": [one._asdict() for one in found.needed_by],
            "declared": [
                {**one.required.entry, "package": one.required.package, "found": one.found}
                for one in needs.declared
            ],
            "unresolved": found.unresolved,
        },
        text="\n".join(lines),
    )


def _required(
    requirements: list[Requirement], other_crawl: Callable[[Requirement], str]
) -> Iterator[str]:
    """A line for each other crawl, and below it one for each pair of files."""
    for crawl, some in groupby(sorted(requirements, key=other_crawl), key=other_crawl):
        of_crawl = list(some)
        yield f"  {crawl}: {count_of(sum(one.references for one in of_crawl), 'reference')}"
        for one in of_crawl:
            yield (
                f"    {printable(one.archive_file)} -> {printable(one.requires)}: {one.references}"
            )


def _declared(one: StoredRequirement, unresolved: int) -> str:
    required = one.required
    absent = "missing" if unresolved else "not here as such a file, and every reference resolves"
    crawl = f" of {required.crawl}" if required.crawl else ""
    where = f"in the store: {', '.join(one.found)}" if one.found else absent
    return printable(f"  {required.package}: {required.filename}{crawl}: {where}")


def say_statistics(crawl: str, found: CrawlStatistics, console: Console) -> None:
    """Numbers, then tables, the most frequent first, then what was done to it."""
    stats, plan = found.stats, found.plan
    tables = {
        "types": stats.types,
        "bytes_by_type": stats.bytes_by_type,
        "statuses": stats.statuses,
        "media_types": stats.media_types,
        "takes_no_part": stats.skips,
        "copies_left_full": plan.left_full,
    }
    held = ("files", "landed_bytes", "stored_bytes", "saved_bytes", "old_generations", "old_bytes")
    numbers = {name: getattr(stats.holdings, name) for name in held}
    numbers |= {"captures": stats.captures}
    numbers |= {"duplicates": plan.total.records, "duplicate_bytes": plan.duplicate_bytes}
    lines = [f"{crawl}  {found.state}", *(f"{name}: {n:,}" for name, n in numbers.items())]
    for name, table in tables.items():
        lines += [f"{name}:", *_rows(table)]
    lines += ["acts:", *(f"  {verb}: {_counts(n)}" for verb, n in sorted(found.acts.items()))]
    console.result(
        {"crawl": crawl, "state": found.state, **numbers, **tables, "acts": dict(found.acts)},
        text="\n".join(lines),
    )


def _rows(table: Counter[str]) -> list[str]:
    shown = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"  {printable(name)}: {count}" for name, count in shown[:_MOST_SHOWN]]
    if len(shown) > _MOST_SHOWN:
        lines.append(f"  and {len(shown) - _MOST_SHOWN} more")
    return lines


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))

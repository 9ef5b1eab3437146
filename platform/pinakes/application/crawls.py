"""The crawls of a store, their files, and what crawlers have reported of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.catalog.browsertrix_counts import BrowsertrixCounts, count_as_browsertrix
from pinakes.catalog.crawl_rows import (
    COMMITTED,
    CrawlEntry,
    lost_crawl,
    require_crawl,
    scan_crawls,
    scan_lost_crawls,
)
from pinakes.catalog.crawl_stats import CrawlStats, count_crawl
from pinakes.catalog.file_counts import read_totals
from pinakes.catalog.file_rows import (
    entry_of,
    generations_of,
    scan_file_rows,
    scan_inflight,
)
from pinakes.catalog.reported import Report, find_open_scope, scan_not_landed
from pinakes.catalog.required_files import StoredRequirement, scan_required
from pinakes.catalog.requirements import Requirements, read_requirements
from pinakes.config import Configuration
from pinakes.dedupe.run.plan import Plan
from pinakes.dedupe.run.run_report import DedupeRequest, policies_text
from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.seen_cells import CommitFindings
from pinakes.profile import Stores

from .deduping import plan_of

_MOST_REPORTS = 1000
"""At most so many reported captures that have not landed are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSummary:
    """A crawl: its state, and what has landed in it and not been removed.

    `bytes` are the sizes of its files as they landed, `stored_bytes` those on disk now, and
    `old_bytes` those of `old_generations` that have not been dropped.  `counts` are those that
    Browsertrix keeps; None where they were not asked for.
    """

    crawl: str
    collection: str
    state: str
    source: str | None
    description: str | None
    files: int
    captures: int
    bytes: int
    stored_bytes: int
    old_generations: int
    old_bytes: int
    counts: BrowsertrixCounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """An archive file of a crawl; None is unknown.

    `bytes` and `sha256` are those of its current generation, `landed_bytes` and `landed_sha256`
    those with which it landed, as `captures`; `generation` counts how often it was written, from
    1; `hidden`: an act is at work on it, and readers leave it out.
    """

    file: str
    state: FileState
    generation: int
    bytes: int | None
    sha256: str | None
    landed_bytes: int | None
    landed_sha256: str | None
    captures: int | None
    hidden: bool


class ReportedCaptures(NamedTuple):
    """Captures that a crawler has reported of a crawl: how many landed and did not, or what its
    commit found of them; and, of an open crawl, the first that did not land."""

    numbers: Mapping[str, int]
    waiting: list[Report]
    more: int


def list_crawls(stores: Stores, *, counts: bool = False) -> Iterator[CrawlSummary]:
    """All crawls, by name.  `counts` reads their sidecars."""
    for entry in scan_crawls(stores.rows):
        yield _summary(stores, entry, counts=counts)


def read_summary(stores: Stores, crawl: str, *, counts: bool = False) -> CrawlSummary:
    """One of them.  Raises as `require_crawl`."""
    return _summary(stores, require_crawl(stores.rows, crawl), counts=counts)


def sum_committed(crawls: Iterator[CrawlSummary]) -> dict[str, BrowsertrixCounts]:
    """The counts of all committed crawls of each collection, by name."""
    sums: dict[str, BrowsertrixCounts] = defaultdict(BrowsertrixCounts)
    for one in crawls:
        if one.counts is not None and one.state == COMMITTED:
            sums[one.collection].add(one.counts)
    return dict(sorted(sums.items()))


def list_lost(stores: Stores) -> Iterator[DigestMismatch]:
    """An error for each crawl whose row is lost, though files of it are stored."""
    return map(lost_crawl, scan_lost_crawls(stores.rows))


def list_files(stores: Stores, crawl: str) -> Iterator[StoredFile]:
    """The archive files of a crawl that have landed, or were to, by name."""
    in_flight = scan_inflight(stores.rows)
    for row in scan_file_rows(stores.rows, crawl):
        entry = entry_of(row)
        if entry.state is None:
            continue
        facts, stored = entry.facts, generations_of(row).get(entry.generation)
        yield StoredFile(
            file=entry.archive_file,
            state=entry.state,
            generation=entry.generation,
            bytes=stored.size if stored is not None else None,
            sha256=stored.sha256 if stored is not None else None,
            landed_bytes=facts.size if facts is not None else None,
            landed_sha256=facts.sha256 if facts is not None else None,
            captures=facts.captures if facts is not None else None,
            hidden=entry.archive_file in in_flight,
        )


def read_reported(stores: Stores, crawl: str) -> ReportedCaptures:
    """What was reported of a crawl.  Raises as `require_crawl`."""
    entry = require_crawl(stores.rows, crawl)
    scope = find_open_scope(stores.rows, crawl)
    landed = missing = 0
    listed: list[Report] = []
    for known, some in scan_not_landed(stores.rows, scope) if scope is not None else ():
        landed += known
        missing += len(some)
        listed += some[: _MOST_REPORTS - len(listed)]
    numbers: Mapping[str, int] = {}
    if entry.is_settled and entry.findings is not None:
        numbers = findings_of(entry.findings)
    elif landed or missing:
        numbers = {"reports_landed": landed, "reports_not_landed": missing}
    return ReportedCaptures(numbers, listed, missing - len(listed))


class Needs(NamedTuple):
    """What a crawl requires of others, and they of it; and what its WACZ files say of that."""

    state: str
    found: Requirements
    declared: list[StoredRequirement]


def read_needs(stores: Stores, crawl: str) -> Needs:
    """What a crawl requires.  Raises as `require_crawl`."""
    entry = require_crawl(stores.rows, crawl)
    of_it = (stores.rows, stores.archive, crawl, entry.facts.collection)
    return Needs(entry.state, read_requirements(*of_it), list(scan_required(*of_it)))


class CrawlStatistics(NamedTuple):
    """What a crawl holds, what `dedupe` would make of it, and what each verb did to it."""

    state: str
    stats: CrawlStats
    plan: Plan
    acts: Mapping[str, Counter[str]]


def read_statistics(stores: Stores, crawl: str, configuration: Configuration) -> CrawlStatistics:
    """Count a crawl, with the duplicates that `dedupe` counts.  Raises as `require_crawl`."""
    entry = require_crawl(stores.rows, crawl)
    stats = count_crawl(stores.rows, stores.archive, crawl)
    wanted = DedupeRequest(
        collection=entry.facts.collection,
        crawl=crawl,
        min_saving_bytes=configuration.min_saving_bytes,
        min_file_saving=configuration.min_file_saving,
        policies=policies_text(configuration.dedupe),
    )
    acts = read_totals(stores.rows, crawl).by_verb
    return CrawlStatistics(entry.state, stats, plan_of(stores, wanted), acts)


def findings_of(found: CommitFindings) -> dict[str, int]:
    """What a commit found, by name."""
    return {
        "reports_landed": found.landed,
        "reports_never_landed": found.never_landed,
        "unresolved": found.unresolved,
        "unresolved_reported": found.to_reported,
    }


def _summary(stores: Stores, entry: CrawlEntry, *, counts: bool) -> CrawlSummary:
    held, collection = read_totals(stores.rows, entry.crawl).holdings, entry.facts.collection
    counted = None
    if counts:
        counted = count_as_browsertrix(stores.rows, stores.archive, entry.crawl, collection)
    return CrawlSummary(
        crawl=entry.crawl,
        collection=collection,
        state=entry.state,
        source=entry.facts.source,
        description=entry.facts.description,
        files=held.files,
        captures=held.captures,
        bytes=held.landed_bytes,
        stored_bytes=held.stored_bytes,
        old_generations=held.old_generations,
        old_bytes=held.old_bytes,
        counts=counted,
    )
